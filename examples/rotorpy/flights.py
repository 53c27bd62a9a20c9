"""Flights in RotorPy: its multirotor and its controller, with plans of Facet's."""
import numpy
from rotorpy.controllers.quadrotor_control import SE3Control
from rotorpy.vehicles.multirotor import Multirotor

from referee import Referee, crash

END_OF_PATH = 0.05  # m before the end of a plan that counts as flown, as in Facet


# ---- Who commands the motors ---------------------------------------------------------------------

class FacetLaw:
    """Facet's carrot, controller and mixer."""

    def __init__(self, parameters):
        self.thrust_factor = parameters["k_eta"]

    def command(self, time, state, advice, reference):
        return {"cmd_motor_speeds": numpy.sqrt(advice.thrust / self.thrust_factor)}


class FacetGains:
    """RotorPy's controller with Facet's gains, after Facet's carrot."""

    def __init__(self, parameters):
        self.controller = SE3Control({**parameters, "kp_att": 544.0, "kd_att": 46.6})
        self.controller.kp_pos = numpy.full(3, 6.5)
        self.controller.kd_pos = numpy.full(3, 4.0)

    def command(self, time, state, advice, reference):
        wanted = {"x": advice.pos, "x_dot": advice.vel, "x_ddot": advice.acc, "yaw": advice.yaw,
                  "yaw_dot": 0.0}
        return self.controller.update(time, state, wanted)


class Stock(FacetGains):
    """RotorPy's controller as it comes, after Facet's carrot."""

    def __init__(self, parameters):
        self.controller = SE3Control(parameters)


class Timed(Stock):
    """RotorPy's controller as it comes, after the plan by the clock."""

    def command(self, time, state, advice, reference):
        return self.controller.update(time, state, flat_output(reference, time))


PILOTS = {"law": FacetLaw, "gains": FacetGains, "stock": Stock, "timed": Timed}


def flat_output(reference, time):
    """The plan at a time, as RotorPy's trajectories give it; after its end it goes straight on."""
    end = reference.time[-1]
    i = min(int(numpy.searchsorted(reference.time, time, side="right")), len(reference.time) - 1)
    span = reference.time[i] - reference.time[i - 1]
    share = min((time - reference.time[i - 1]) / span, 1.0) if span > 0.0 else 1.0

    def between(rows):
        return rows[i - 1] + share * (rows[i] - rows[i - 1])

    late = max(time - end, 0.0)
    turn = (reference.yaw[i] - reference.yaw[i - 1]) / span if span > 0.0 and not late else 0.0
    return {"x": between(reference.pos) + late * reference.vel[-1], "x_dot": between(reference.vel),
            "x_ddot": between(reference.acc) if not late else numpy.zeros(3),
            "yaw": between(reference.yaw), "yaw_dot": turn}


# ---- One flight ----------------------------------------------------------------------------------

def rotorpy_state(numbers, thrust_factor):
    """RotorPy's state from the numbers of a FacetQuadState."""
    w, x, y, z = numbers[3:7]
    return {"x": numbers[:3], "q": numpy.array([x, y, z, w]), "v": numbers[7:10],
            "w": numbers[10:13], "wind": numpy.zeros(3),
            "rotor_speeds": numpy.sqrt(numbers[13:17] / thrust_factor)}


def facet_state(state, thrust_factor):
    x, y, z, w = state["q"]
    return numpy.concatenate([state["x"], [w, x, y, z], state["v"], state["w"],
                              thrust_factor * state["rotor_speeds"] ** 2])


def up(state):
    """The world's z along the body's."""
    x, y = state["q"][:2]
    return 1.0 - 2.0 * (x * x + y * y)


def fly(name, pilot, parameters, gates, half_width, arena, rate):
    """Flies a pilot's plan and returns what became of it, with the path at every step."""
    vehicle, commander = Multirotor(parameters), PILOTS[name](parameters)
    referee, reference = Referee(gates, half_width), pilot.reference
    state = rotorpy_state(pilot.start, parameters["k_eta"])
    path, end, crashed = [state["x"]], "timed out", "none"
    for step in range(int((2.0 * reference.time[-1] + 2.0) * rate)):
        advice = pilot.advise(facet_state(state, parameters["k_eta"]))
        if advice.progress >= reference.arc[-1] - END_OF_PATH:
            end = "finished"
            break
        command = commander.command(step / rate, state, advice, reference)
        state = vehicle.step(state, command, 1.0 / rate)
        crashed = crash(arena, state["x"], up(state))
        if crashed != "none":
            end = "crashed"
            break
        referee.watch(path[-1], state["x"])
        path.append(state["x"])
    return {"passed": referee.passed(), "end": end, "crash": crashed,
            "gate_results": referee.report(), "path": numpy.array(path)}
