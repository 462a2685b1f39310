#!/usr/bin/env python3
"""Lays our E-model, STOI and log-spectral distance beside PESQ or ViSQOL, over the ready comparisons of audio, or our
PSNR and the age of pictures beside VMAF, over those of video.

    interop/scores.py [--callsim PATH] [--scorer pesq|visqol|vmaf] [--seeds 8] [--speech generated] [--speech natural]
                      [--keep FOLDER] [--quick]

Generated speech is that of the simulated microphone. Natural speech is five sentences of LibriVox, which are in the public
domain, from Debian's package pocketsphinx-testdata; they are used from where they are installed. The scorers are Python
packages in a virtual environment of their own. The licence of PESQ allows to evaluate the algorithm: nothing of it is
shipped. ViSQOL takes as long as what it scores, so that it scores one file alone.

It prints the rank correlation of every number with the scorer over all arms at all points. With --keep the pages and the
data of the comparisons stay in a folder. --quick plays one file with three seeds. It ends with 0, with 1 if a comparison
fails or has fewer scores than runs, with 7 when this machine cannot get the scorer or the speech.
"""

import argparse
import array
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import wave
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SENTENCES = Path("/usr/share/pocketsphinx/test/data/librivox")

# Of each scorer the packages, what must import, and what it scores: Opus at random loss and in bursts, with FEC and RED and
# without, and the telephone codecs; codecs, layers and rates of video.
SCORERS = {
    "pesq": (("pesq==0.0.4", "numpy"), "numpy, pesq",
             ("opus-fec", "red-against-fec", "opus-bitrate", "opus-ptime", "audio-codecs")),
    "visqol": (("visqol-python[lattice]==3.8.0", "numpy"), "visqol, ai_edge_litert", ("opus-bitrate",)),
    "vmaf": (("imageio-ffmpeg==0.8.1",), "imageio_ffmpeg", ("video-codecs", "video-codecs-far-and-narrow", "temporal-layers")),
}  # fmt: skip


class Unavailable(Exception):
    pass


def environment(scorer):
    """The environment in which `python3` has the scorer."""
    packages, imports, _ = SCORERS[scorer]
    folder = Path(os.environ.get("SCORES_VENV", Path(__file__).with_name(".venv-scores")))
    python = folder / "bin" / "python3"
    if not python.exists() or subprocess.run([python, "-c", f"import {imports}"], capture_output=True).returncode != 0:
        venv.create(folder, with_pip=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        done = subprocess.run(pip, capture_output=True, text=True)
        if done.returncode != 0:
            raise Unavailable(f"{packages[0]} cannot be had: {done.stderr.strip().splitlines()[-1:]}")
    return os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}


def natural(path):
    """Writes the sentences one after the other, at 48 kHz."""
    files = sorted(SENTENCES.glob("*.wav"))
    if not files:
        subprocess.run([ROOT / "scripts" / "prepare", "pocketsphinx-testdata"], capture_output=True)
        files = sorted(SENTENCES.glob("*.wav"))
    if not files:
        raise Unavailable("pocketsphinx-testdata cannot be had")
    samples = array.array("h")
    for file in files:
        with wave.open(str(file)) as sentence:
            if (sentence.getframerate(), sentence.getnchannels(), sentence.getsampwidth()) != (16000, 1, 2):
                raise Unavailable(f"{file} is not 16 kHz, mono, 16 bit")
            samples.frombytes(sentence.readframes(1 << 30))
        samples.extend([0] * 4800)
    with wave.open(str(path), "wb") as whole:
        whole.setparams((1, 2, 48000, 0, "NONE", ""))
        whole.writeframes(threefold(samples).tobytes())


def threefold(samples):
    """The samples at three times the rate, by a windowed sinc that keeps what is below 7.2 kHz."""
    from math import cos, pi, sin

    reach = 24
    phases = []
    for phase in range(3):
        taps = []
        for tap in range(-reach, reach):
            x = tap + 1 - phase / 3
            sinc = 1 if x == 0 else sin(pi * x * 0.95) / (pi * x)
            taps.append(sinc * (0.5 + 0.5 * cos(pi * x / (reach + 1))))
        total = sum(taps)
        phases.append([tap / total for tap in taps])
    padded = [0] * reach + list(samples) + [0] * reach
    result = array.array("h")
    for index in range(len(samples)):
        window = padded[index + 1:index + 1 + 2 * reach]
        for taps in phases:
            value = round(sum(a * b for a, b in zip(window, taps)))
            result.append(max(-32768, min(32767, value)))
    return result


def with_measures(text):
    """The scenario with the intelligibility and the spectral distance among its numbers, and without what it expects of
    generated speech and its own number of seeds."""
    text = text.split("\nexpect:\n")[0] + "\n"
    line = "    - { metric: bob.q.mos, window: [lossy, bye] }\n"
    for name in ("stoi", "lsd"):
        if f"bob.q.{name}," not in text:
            text = text.replace(line, line + line.replace("q.mos", f"q.{name}"))
    return text


def play(options, folder, speech, env):
    """Plays the comparisons with one kind of speech, and returns the report."""
    work = folder / speech
    shutil.copytree(ROOT / "comparisons", work)
    if speech == "natural":
        natural(work / "natural.wav")
        peers = work / "peers.yaml"
        peers.write_text(re.sub(r"mic: speech", "mic: { file: natural.wav }", peers.read_text()))
    for file in work.glob("*.yaml"):
        file.write_text(with_measures(file.read_text()))
    names = SCORERS[options.scorer][2]
    files = [work / f"{name}.yaml" for name in (names[:1] if options.quick else names)]
    report = work / "report.json"
    command = [options.callsim, "compare", *files, "--quiet", "--seeds", "3" if options.quick else str(options.seeds),
               "--scorer", options.scorer, "--correlate", options.scorer, "--report", f"json={report},html={work / 'page.html'}"]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(1)
    return json.loads(report.read_text())


def show(speech, report, scorer):
    """Prints the correlations, and returns whether every run was scored."""
    runs = sum(len(point["runs"]) for point in report["points"])
    scored = sum(
        len(arm["samples"])
        for point in report["points"] for number in point["numbers"] if number["name"].startswith(f"bob.{scorer}")
        for arm in number["arms"].values())
    print(f"\n{speech} speech: {scored} of {runs} runs have a score")
    print(f"  {'':44}{'arms at points':>14}{'Spearman':>10}{'Kendall':>10}")
    for one in report["correlations"]:
        print(f"  {one['number']:44}{one['count']:14}{one['spearman'] or 0:10.3f}{one['kendall'] or 0:10.3f}")
    for point in report["points"]:
        for line in point["unscored"]:
            print(f"  {point['id']}: {line}")
    return scored == runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--callsim", default=ROOT / ".build-release" / "release" / "callsim", type=Path)
    parser.add_argument("--scorer", default="pesq", choices=SCORERS)
    parser.add_argument("--seeds", default=8, type=int)
    parser.add_argument("--speech", action="append", choices=("generated", "natural"))
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    try:
        env = environment(options.scorer)
        # Pictures are the same, whatever is spoken.
        speeches = options.speech or (("generated",) if options.scorer == "vmaf" else ("generated", "natural"))
        with tempfile.TemporaryDirectory() as temporary:
            folder = options.keep or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            complete = [
                show(speech, play(options, folder, speech, env), options.scorer) for speech in speeches
            ]
    except Unavailable as error:
        print(f"scores: {error}", file=sys.stderr)
        return 7
    return 0 if all(complete) else 1


if __name__ == "__main__":
    sys.exit(main())
