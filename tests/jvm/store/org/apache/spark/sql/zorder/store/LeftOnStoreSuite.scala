package org.apache.spark.sql.zorder.store

import sparkzorder.LeftForTestAll

class LeftOnStoreSuite extends LeftForTestAll
