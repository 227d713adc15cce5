import { decodeText } from './relation-set.ts';
import { runTool } from './run-tool.ts';

/** The commands for hooks: `unit-tools relation-get …`. A separate program, because Node's start is most of a call. */
const [name = '', ...words] = process.argv.slice(2);

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return decodeText(Buffer.concat(chunks), 'Standard input');
}

process.exitCode = await runTool(name, words, {
  environment: process.env,
  readInput,
  print: (text) => void process.stdout.write(text),
  warn: (text) => void process.stderr.write(text),
});
