// The small model that learns on this page (learning_model.js): the settings, and a run of two models that begin alike and get the same
// batches, one with the causal mask and one without. The work is cut into units, and each frame does as many as it has time for, so that
// the page stays fluid; a run's numbers do not depend on how fast it goes. learning_view.js draws it.
const LEARNING = { warmup: 50, smoothing: 0.1, testEvery: 25, examples: 16, pauseEvery: 2000, workMs: 10, drawMs: 250 };
// Each setting: its values, or a number's bounds, and the value at first.
const LEARNING_SETTINGS = {
  task: { values: ['reverse', 'dates', 'text'], first: 'reverse' },
  text: { isText: true, first: '' },
  rate: { values: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.03], first: 0.005 },
  warmup: { isSwitch: true, first: true },
  smoothing: { isSwitch: true, first: false },
  layers: { values: [1, 2], first: 2 },
  heads: { values: [1, 2, 4], first: 2 },
  width: { values: [16, 24, 32], first: 32 },
  seed: { least: 0, most: 9999, first: 1 },
};
const learning = { settings: {}, run: null, before: null, isRunning: false, speed: null, layer: 0, head: 0, until: null };  // until: the update of the address, at which the run pauses

// A run's two models are those with the mask and without. losses: of each update, for each model; tests: { update, results: for each
// model } of every testEvery-th update.
function newLearningRun(settings) {
  const task = settings.task === 'text' ? textTask(settings.text) : settings.task === 'dates' ? dateTask() : reversalTask();
  const { width, heads, layers, seed } = settings;
  const sizes = { vocabulary: task.characters.length, positions: task.positions, width, heads, inner: 2 * width, layers };
  const tested = randomFrom(3 * seed + 1);
  const run = { settings, task, models: [true, false].map(causal => newModel(sizes, causal, 3 * seed)), updates: 0, isWhole: true, losses: [], tests: [],
    random: randomFrom(3 * seed + 2), examples: Array.from({ length: LEARNING.examples }, () => task.draw(tested, true)), last: null };
  run.options = { rate: settings.rate, warmup: settings.warmup ? LEARNING.warmup : 0, smoothing: settings.smoothing ? LEARNING.smoothing : 0 };
  run.work = learningWork(run);
  return run;
}
const testRun = run => ({ update: run.updates, results: run.models.map(m => whenGenerating(m, run.examples)) });
// The work of a run without end, in units of one model at a time. It gives true where an update of both models is complete.
function* learningWork(run) {
  for (;;) {
    const batch = Array.from({ length: run.task.batch }, () => run.task.draw(run.random, false)), losses = [], results = [];
    run.isWhole = false;
    for (const model of run.models) {
      losses.push(learn(model, batch, run.options));
      yield false;
    }
    run.losses.push(losses), ++run.updates;
    if (run.updates % LEARNING.testEvery === 0) {
      for (const model of run.models) {
        results.push(whenGenerating(model, run.examples));
        yield false;
      }
      run.tests.push(run.last = { update: run.updates, results });
    }
    run.isWhole = true;
    yield true;
  }
}
function finishUpdate(run) {
  while (!run.work.next().value);
}

let learningTurn = 0;  // of the frames: those of an earlier start do nothing
function startLearning() {
  const run = learning.run || resetLearning();
  if (!run) return;
  const turn = ++learningTurn;
  let drawn = performance.now(), since = drawn, updates = 0;
  learning.isRunning = true, learning.speed = null;
  drawLearningButtons();
  sayOfLearning(t('l_running'));
  const frame = () => {
    if (!learning.isRunning || turn !== learningTurn) return;
    const until = performance.now() + LEARNING.workMs;
    let pauses = false;
    do {
      if (!run.work.next().value) continue;
      ++updates;
      pauses = run.updates % LEARNING.pauseEvery === 0 || run.updates === learning.until;
    } while (!pauses && performance.now() < until);
    const at = performance.now();
    if (at - drawn >= LEARNING.drawMs) {
      if (updates) learning.speed = 1000 * updates / (at - since);
      if (updates && at - since > 1000) since = at, updates = 0;
      drawRun();
      drawn = performance.now();
    }
    if (pauses) { learning.until = null; pauseLearning(); } else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}
// Shows the run as it is after a whole update.
function showLearning(words) {
  const run = learning.run;
  if (!run.last || run.last.update !== run.updates) run.last = testRun(run);
  drawRun();
  sayOfLearning(words);
  keepState();
}
function pauseLearning() {
  learning.isRunning = false;
  drawLearningButtons();
  if (!learning.run) return;
  if (!learning.run.isWhole) finishUpdate(learning.run);
  showLearning(learningFacts());
}
function stepLearning() {
  const run = learning.run || resetLearning();
  if (!run) return;
  learning.isRunning = false;
  drawLearningButtons();
  finishUpdate(run);
  showLearning(learningFacts());
}
// A new run with the settings; null, with a message, if there is nothing to learn. The run before stays to be compared with.
function resetLearning() {
  const wrong = learning.settings.task === 'text' ? wrongWithText(learning.settings.text) : null;
  if (learning.run && learning.run.tests.length) learning.before = learning.run;
  learning.isRunning = false, learning.speed = null, learning.run = null;
  drawLearningButtons();
  $('learning-shown').hidden = Boolean(wrong);
  if (wrong) { sayOfLearning(t(...wrong)); return null; }
  learning.run = newLearningRun({ ...learning.settings });
  drawLearningMaps();
  showLearning(t('l_anew'));
  return learning.run;
}

// Settings that are not the first ones, how far the run has come, and the shown head, for the page's address.
const learningState = () => packed([...Object.entries(learning.settings).filter(([key, value]) => value !== firstOf(key)), ['updates', learning.run && !learning.isRunning && learning.run.updates || undefined],
  ['layer', learning.layer || undefined], ['head', learning.head || undefined]]);
// Learns as far as the address says. The numbers are those that it was taken from: they depend on the settings alone.
function resumeLearning(state) {
  const given = new URLSearchParams(state || ''), number = key => /^\d{1,4}$/.test(given.get(key) || '') ? +given.get(key) : 0;
  learning.until = Math.min(number('updates'), LEARNING.pauseEvery) || null;
  learning.layer = number('layer'), learning.head = number('head');
  if (learning.until) startLearning();
}
const firstOf = key => key === 'text' ? t('l_own_text') : LEARNING_SETTINGS[key].first;
// The value of a setting as text from the address, or from a control; one that cannot be is the first value.
function learningValue(key, text) {
  const { values, isSwitch, isText, least, most, first } = LEARNING_SETTINGS[key];
  if (isText) return text;
  if (isSwitch) return text === 'true';
  if (values) return values.find(v => String(v) === text) ?? first;
  return /^\d+$/.test(text) ? Math.min(most, Math.max(least, +text)) : first;
}
