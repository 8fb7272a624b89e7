// Two translations side by side.
for (const side of ['left-', 'right-']) $(side + 'model').onchange = () => offerLanguages(side);
$('compare').onclick = () => {
  for (const side of ['left', 'right']) {
    const temperature = +$(side + '-temperature').value;
    const body = {q: $('compare-source').value, ...chosenLanguages(side + '-'), model: $(side + '-model').value || undefined};
    temperature > 0 ? body.temperature = temperature : body.beam_size = +$(side + '-beam').value || 1;
    $(side).setAttribute('aria-busy', true);
    const begun = performance.now();
    const ask = async () => {
      tellDetected(side + '-');
      await events('/translate', body, undefined, e => {
        if (e.detectedLanguage) tellDetected(side + '-', e.detectedLanguage);
        $(side).textContent = e.partial ?? `${e.translatedText}\n\n${Math.round(performance.now() - begun)} ms`;
      });
    };
    ask().then(() => trouble(null), trouble).finally(() => $(side).setAttribute('aria-busy', false));
  }
};
