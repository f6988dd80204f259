"""The live lab: reproduce an incident on stock RocketMQ processes on loopback, with its logs and stores as an evidence
folder.

    from kit.live_lab import run, scenario
    done = run.run(scenario.find("half-topic-blowup"), Path("out/lab/1"))
    done.evidence

Needs Java 17, `javac` and Maven. Nothing is started before `run` is called; everything is stopped when it returns or
raises.
"""
