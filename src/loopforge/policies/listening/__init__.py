"""Listening: minds that are given sound, and write down what is said in it."""
