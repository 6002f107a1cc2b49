package org.apache.spark.sql.zorder

import sparkzorder.LeftForTestAll

class LeftForTestAllSuite extends LeftForTestAll
