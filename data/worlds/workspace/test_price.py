import unittest

from price import price


class PriceTest(unittest.TestCase):
    def test_only_off(self):
        self.assertAlmostEqual(price(50, 10, 0), 45)

    def test_off_and_on_top(self):
        self.assertAlmostEqual(price(100, 20, 10), 88)
