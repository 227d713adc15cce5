import { samplePackage, samples } from '#samples/build.ts';

// Writes a sample handler's zip to stdout: `npm run -s sample -- Acme.Lab.Probe 1.0.0.0 > probe.zip`
const [handler, version] = process.argv.slice(2);
const found = samples.find((sample) => sample.handler === handler && sample.version === version);
if (!found || process.stdout.isTTY) {
  console.error('usage: npm run -s sample -- HANDLER VERSION > FILE.zip\n');
  for (const sample of samples) console.error(`  ${sample.handler} ${sample.version}`);
  process.exit(2);
}
process.stdout.write(await samplePackage(found.handler, found.version));
