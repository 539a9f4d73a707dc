"""The policy behind the APIs that other people's agents speak, recording what it samples for them.

So an agent that knows nothing of ui-gym is trained by its learners: `foreign.ForeignAgent` plays
its episodes in a trainer's envs; `cli` serves a policy to agents that play elsewhere.
"""
