"""The live lab: reproduce an incident on stock RocketMQ processes on loopback, with its logs and stores as evidence.

Needs Java 17, `javac` and Maven. Nothing is started before `run.run` is called, and nothing is left when it ends.
"""
