from shop.cart import Cart


def test_total_counts_each_line():
    cart = Cart()
    cart.add("pen", 150, 2)
    cart.add("paper", 499)
    assert cart.total() == 799
