"""Meta-World's reach, push and pick-place with chosen goals and starts, and its scripted experts.

The policy sees the hand, the gripper and the object, and not the goal. The experts are told the
goal in the last three numbers of the observation, as they expect.
"""
import warnings

import metaworld
import metaworld.policies
import numpy

import tasks

NAMES = {"reach": "reach-v3", "push": "push-v3", "pick-place": "pick-place-v3"}
EXPERTS = {"reach": metaworld.policies.SawyerReachV3Policy,
           "push": metaworld.policies.SawyerPushV3Policy,
           "pick-place": metaworld.policies.SawyerPickPlaceV3Policy}
TABLE = 0.02  # m: height of the object's centre when it stands on the table
HAND_ABOVE = 0.045  # m: what the experts steer is this much above the fingers
AWAY = (0.0, 0.9, 0.2)  # m: a goal to reset with; Meta-World waits for one far from the object
KEYS = {"hand": slice(0, 4), "object": slice(4, 7), "rotation": slice(7, 11)}


def goal_place(skill, goal):
    return numpy.array([*tasks.place(goal), TABLE if skill == "push" else tasks.HEIGHT])


class World:
    """One environment, for all goals of a skill."""

    def __init__(self, skill):
        benchmark = metaworld.ML1(NAMES[skill], seed=0)  # it hides the goal
        self.skill = skill
        self.environment = benchmark.train_classes[NAMES[skill]]()
        self.environment.set_task(benchmark.train_tasks[0])
        self.expert_policy = EXPERTS[skill]()
        self.goal = None

    def reset(self, goal, start):
        """Begins an episode; returns the observation, which is the same for all skills."""
        self.goal = goal_place(self.skill, goal)
        placed = numpy.array([*start, TABLE])
        environment = self.environment
        environment._last_rand_vec = numpy.concatenate([placed, AWAY])
        environment.reset()
        environment._target_pos = self.goal
        environment._set_obj_xyz(placed)  # push puts it 0.6 mm lower than the others
        now = environment._get_curr_obs_combined_no_goal()
        environment._prev_obs = now
        return numpy.concatenate([now, now, numpy.zeros(3)])

    def step(self, action):
        """The observation after the action, and whether Meta-World calls the task done."""
        observation, _, _, _, info = self.environment.step(action)
        return observation, bool(info["success"])

    def expert(self, observation):
        """What the scripted expert does, within the action's bounds. In the air it is told a place
        above the goal, so that the fingers come to the goal and not the hand."""
        above = 0.0 if self.skill == "push" else HAND_ABOVE
        told = numpy.concatenate([observation[:-3], self.goal + [0.0, 0.0, above]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says that actions are clipped
            return numpy.clip(self.expert_policy.get_action(told), -1.0, 1.0).astype(numpy.float64)
