import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { AgentError, sentenceOf } from './agent-error.ts';
import { enroll } from './commands/enroll.ts';
import { once } from './commands/once.ts';
import { type RunOptions, run } from './commands/run.ts';
import { status, statusText } from './commands/status.ts';
import { agentVersion } from './version.ts';

const print = (line: string) => console.log(line);
const stopping = new AbortController();
// `disconnect`: whoever started it with a channel and kept it running is gone.
for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.on(event, () => stopping.abort());

function seconds(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 1 || value > 600) throw new InvalidArgumentError('1 to 600 seconds.');
  return value;
}

function tokenOf(options: { token?: string; tokenFile?: string }): string {
  const token = options.tokenFile === undefined ? options.token : readFileSync(options.tokenFile, 'utf8');
  const given = (token ?? process.env.ANNEX_ENROLLMENT_TOKEN ?? '').trim();
  if (given === '') {
    throw new AgentError('No enrolment token. Give --token, --token-file or ANNEX_ENROLLMENT_TOKEN.');
  }
  return given;
}

const program = new Command('agent')
  .description('The reference guest agent of Annex. Everything that it writes is below --dir.')
  .version(agentVersion);

program
  .command('enroll')
  .description('make key and certificate, and enrol this machine at a portal')
  .requiredOption('--portal <url>', 'address of the portal or its gateway')
  .option('--token <token>', 'enrolment token of the VM; also --token-file or ANNEX_ENROLLMENT_TOKEN')
  .option('--token-file <file>', 'file that holds the token')
  .requiredOption('--dir <dir>', 'folder of this agent')
  .option('--name <name>', 'common name of the certificate (default: the host name)')
  .action(async (options: { portal: string; token?: string; tokenFile?: string; dir: string; name?: string }) => {
    await enroll({ ...options, token: tokenOf(options) }, print);
  });

for (const [name, description, action] of [
  ['run', 'bring this machine to its goal state and keep it there', run],
  ['once', 'take the goal state once, do what it asks, report, end', once],
] as const) {
  program
    .command(name)
    .description(description)
    .requiredOption('--dir <dir>', 'folder of this agent')
    .option('--heartbeat-seconds <n>', 'how often heartbeat files are read', seconds, 120)
    .option('--status-seconds <n>', 'how often status files are read', seconds, 300)
    .option('--reboot-command <command>', 'run when an installed handler wants a reboot')
    .option('--disable-on-exit', 'at the end disable every handler, for demos and tests')
    .action(async (options: Omit<RunOptions, 'environment'>) => {
      await action({ ...options, environment: process.env }, print, stopping.signal);
    });
}

program
  .command('status')
  .description('what the agent in a folder knows')
  .requiredOption('--dir <dir>', 'folder of this agent')
  .option('--json', 'for programs')
  .action((options: { dir: string; json?: boolean }) => {
    print(options.json ? JSON.stringify(status(options.dir), null, 2) : statusText(options.dir));
  });

try {
  await program.parseAsync();
  // Held connections would keep the process for a while.
  process.exit(0);
} catch (error) {
  console.error(error instanceof AgentError ? error.message : `The agent failed: ${sentenceOf(error)}`);
  process.exit(1);
}
