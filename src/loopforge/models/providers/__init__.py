"""One model of one provider: its client, its catalogue, its prices, its faults."""
