"""The tables of one evidence set and their cache."""
