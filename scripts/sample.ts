import { formulaPackage, sampleFormulas, samplePackage, samples } from '#samples/build.ts';

// Writes the zip of a sample handler or formula to stdout: `npm run -s sample -- Acme.Lab.Probe 1.0.0.0 > probe.zip`
const [handler, version] = process.argv.slice(2);
const all = [
  ...samples.map((sample) => ({ id: sample.handler, version: sample.version, pack: samplePackage })),
  ...sampleFormulas.map((sample) => ({ id: sample.formula, version: sample.version, pack: formulaPackage })),
];
const found = all.find((sample) => sample.id === handler && sample.version === version);
if (!found || process.stdout.isTTY) {
  console.error('usage: npm run -s sample -- ID VERSION > FILE.zip\n');
  for (const sample of all) console.error(`  ${sample.id} ${sample.version}`);
  process.exit(2);
}
process.stdout.write(await found.pack(found.id, found.version));
