package org.apache.spark.sql.zorder.hdfs

import sparkzorder.LeftForTestAll

class LeftOnHdfsSuite extends LeftForTestAll
