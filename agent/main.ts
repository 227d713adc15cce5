import { Command, InvalidArgumentError } from 'commander';
import { AgentError, sentenceOf } from './agent-error.ts';
import { isolationVariable, runIsolated } from './clinic/isolate.ts';
import { type DoctorOptions, doctor } from './commands/doctor.ts';
import { enroll } from './commands/enroll.ts';
import { type InstallUnitOptions, installUnit } from './commands/install-unit.ts';
import { type LogsOptions, logs } from './commands/logs.ts';
import { once } from './commands/once.ts';
import { renewKeyNow } from './commands/renew-key.ts';
import { type RunOptions, run } from './commands/run.ts';
import { status, statusText } from './commands/status.ts';
import { type TryOptions, tryCommand } from './commands/try.ts';
import { type WireForwardOptions, wireForward, wireListen } from './commands/wire-forward.ts';
import { openCaller } from './portal/call.ts';
import type { Route } from './portal/route.ts';
import type { ConfigurationKey } from './settings/configuration.ts';
import { addSettings } from './settings/options.ts';
import { enrolmentTokenOf } from './settings/tokens.ts';
import { escapeControls } from './terminal.ts';
import { agentVersion } from './version.ts';

const print = (line: string) => console.log(escapeControls(line));
const printError = (line: string) => console.error(escapeControls(line));
const environment = process.env;
const stopping = new AbortController();
// `disconnect`: whoever started it with a channel and kept it running is gone.
for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.on(event, () => stopping.abort());

const program = new Command('agent')
  .description('The reference guest agent of Annex. Everything that it writes is below --dir.')
  .version(agentVersion);

const way: ConfigurationKey[] = ['proxy', 'directHosts', 'ca'];
type Way = Omit<Route, 'environment'>;
const callerOf = ({ proxy, directHosts, ca }: Way) => openCaller({ proxy, directHosts, ca, environment });

const logging: ConfigurationKey[] = ['logFormat', 'logMegabytes', 'logFiles'];
// systemd sets the variable for what writes into its journal.
const logFormatOf = ({ logFormat }: Pick<RunOptions, 'logFormat'>) =>
  logFormat ?? (environment.JOURNAL_STREAM === undefined ? 'plain' : 'systemd');

function countOf(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function command(
  name: string,
  description: string,
  settings: ConfigurationKey[] = [],
  onFault?: (error: unknown) => void,
): Command {
  return addSettings(program.command(name).description(description), settings, environment, onFault);
}

command('enroll', 'make key and certificate, and enrol this machine at a portal', [
  'portal',
  'tokenFile',
  'name',
  ...way,
])
  .option(
    '--token <token>',
    'enrolment token of the VM; others on the machine see it, ANNEX_ENROLLMENT_TOKEN they do not',
  )
  .option('--again', 'give an enrolled machine a new identity, as a copy of another one needs it')
  .action(
    async (
      options: Way & {
        portal?: string;
        token?: string;
        tokenFile?: string;
        dir: string;
        name?: string;
        again?: boolean;
      },
    ) => {
      const { portal } = options;
      if (portal === undefined)
        throw new AgentError('No portal. Give --portal, for example https://annex.example.net.');
      const variable = environment.ANNEX_ENROLLMENT_TOKEN;
      const token = await enrolmentTokenOf({ ...options, variable, input: process.stdin, output: process.stderr });
      await enroll({ ...options, portal, token, call: callerOf(options) }, print);
    },
  );

for (const [name, description, action] of [
  ['run', 'bring this machine to its goal state and keep it there', run],
  ['once', 'take the goal state once, do what it asks, report, end', once],
] as const) {
  command(name, description, [
    'heartbeatSeconds',
    'statusSeconds',
    'statusAfterConclusion',
    'rebootCommand',
    'waagentFolder',
    'bootIdFile',
    ...logging,
    ...way,
  ])
    .option('--disable-on-exit', 'at the end disable every handler, for demos and tests')
    .action(async (options: Way & Omit<RunOptions, 'call' | 'environment'>) => {
      const logFormat = logFormatOf(options);
      await action({ ...options, logFormat, call: callerOf(options), environment }, print, stopping.signal);
    });
}

command('renew-key', 'give this machine another key pair; a running agent does it', way).action(
  async (options: Way & { dir: string }) => {
    await renewKeyNow({ dir: options.dir, call: callerOf(options) }, print);
  },
);

command('status', 'what the agent in a folder knows', ['bootIdFile'])
  .option('--json', 'for programs')
  .action((options: { dir: string; bootIdFile?: string; json?: boolean }) => {
    print(options.json ? JSON.stringify(status(options), null, 2) : statusText(options));
  });

command('logs', 'the journal of the agent, and what the commands of an extension wrote')
  .argument('[extension]', 'name of an extension; without it the whole journal')
  .option('--lines <n>', 'how many lines at the end of each log, 0 for all', countOf, 100)
  .option('--json', 'for programs')
  .action((extension: string | undefined, options: LogsOptions) => logs(extension, options, print));

command('wire-forward', "relay a stock Azure Linux agent to the gateway, in its VM's name", [
  'gateway',
  'vm',
  'guestTokenFile',
  'networkNamespace',
  'wireAddress',
  'pluginAddress',
  'metadataAddress',
  'allowUids',
  'clients',
  ...logging,
  ...way,
]).action(async (options: Omit<WireForwardOptions, 'environment' | 'input' | 'output' | 'program'>) => {
  const program = [process.execPath, ...process.execArgv, process.argv[1] ?? ''];
  const guestToken = environment.ANNEX_GUEST_TOKEN;
  const [input, output] = [process.stdin, process.stderr];
  const logFormat = logFormatOf(options);
  await wireForward({ ...options, logFormat, environment, guestToken, input, output, program }, print, stopping.signal);
});
program
  .command(wireListen.name, { hidden: true })
  .argument('<address...>')
  .action((addresses: string[]) => wireListen.run(addresses));

let configurationFault: string | null = null;
command(
  'doctor',
  'look for what keeps the agent from its work, and say what to do',
  ['portal', 'rebootCommand', 'bootIdFile', ...way],
  (error) => {
    configurationFault = sentenceOf(error);
  },
)
  .option('--json', 'for programs')
  .action(async (options: Way & Omit<DoctorOptions, 'call' | 'configurationFault'>) => {
    let call = openCaller({ environment });
    try {
      call = callerOf(options);
    } catch (error) {
      configurationFault ??= sentenceOf(error);
    }
    if (!(await doctor({ ...options, call, configurationFault }, print))) process.exitCode = 1;
  });

command('install-unit', 'the systemd unit of this agent, printed or written')
  .option('--user <name>', 'whose processes agent and handlers are', 'root')
  .option('--write [file]', 'write it, by default /etc/systemd/system/annex-agent.service')
  .action((options: InstallUnitOptions) => installUnit(options, print));

const many = (text: string, before: string[] = []) => [...before, text];
program
  .command('try')
  .description('take a package through the whole life of a handler, and check what it promises; without a portal')
  .argument('<package.zip>', 'the package; Acme.Lab.Probe-1.0.0.0.zip says what it is')
  .option('--previous <old.zip>', 'the version before, to be updated from (default: the package itself)')
  .option('--resources <messages.json>', 'resource file, one for each language', many)
  .option('--settings <json>', 'the settings it gets: { "publicSettings": { }, "protectedSettings": { } }, or a file')
  .option('--new-settings <json>', 'those of its second configuration (default: the same)')
  .option('--handler <name>', 'its name where the file does not say it')
  .option('--handler-version <version>', 'its version where the file does not say it')
  .option('--status-seconds <n>', 'how soon a status has to be there', countOf, 120)
  .option('--settle-seconds <n>', 'how long a status may take to say success', countOf, 300)
  .option('--heartbeat-seconds <n>', 'how soon a heartbeat has to be renewed, 0 not to wait for it', countOf, 60)
  .option('--command-seconds <n>', 'the time that each command has', countOf, 300)
  .option('--waagent-folder <folder>', "where it finds keys as with Azure's own agent, or none; as for run")
  .option('--network', 'let it use the network of this machine')
  .option('--json', 'for programs')
  .action(async (zip: string, options: TryOptions & { network?: boolean }) => {
    if (!options.network && environment[isolationVariable] === undefined) {
      const code = await runIsolated(process.argv.slice(1), environment, stopping.signal);
      if (code !== null) process.exit(code);
    }
    const how = environment[isolationVariable] ?? 'with the network and among the processes of this machine';
    if (!options.json) printError(`Trying it ${how}.`);
    const isGood = await tryCommand(
      zip,
      options,
      environment,
      print,
      options.json ? () => {} : printError,
      stopping.signal,
    );
    if (!isGood) process.exitCode = 1;
  });

try {
  await program.parseAsync();
  // Held connections would keep the process for a while.
  process.exit();
} catch (error) {
  printError(error instanceof AgentError ? error.message : `The agent failed: ${sentenceOf(error)}`);
  process.exit(1);
}
