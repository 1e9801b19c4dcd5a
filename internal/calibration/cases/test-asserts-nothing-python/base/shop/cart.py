"""A shopping cart; all prices are whole cents."""


class Cart:
    def __init__(self):
        self._lines = []

    def add(self, name, price, count=1):
        if price < 0 or count < 1:
            raise ValueError("a line needs a price and a count")
        self._lines.append((name, price, count))

    def total(self):
        return sum(price * count for _, price, count in self._lines)
