package sparkzorder.curve

import sparkzorder.LeftForTestAll

class LeftForTestAllSuite extends LeftForTestAll
