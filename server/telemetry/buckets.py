"""The buckets of histograms: those of vLLM, so that one dashboard can compare servers."""

LATENCY = (0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680)
FIRST_TOKEN = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80),
    *(160, 640, 2560),
)
LATER_TOKEN = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80)
CHOICES = (1, 2, 5, 10, 20)
TOKENS = tuple(digit * 10**place for place in range(6) for digit in (1, 2, 5))  # vLLM stops at the context's length
HTTP = (0.1, 0.5, 1)
