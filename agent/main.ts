import { Command, InvalidArgumentError, Option } from 'commander';
import { AgentError, sentenceOf } from './agent-error.ts';
import { type AmqpOptions, amqpKeys, amqpSettingsOf } from './channel/amqp-settings.ts';
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
import { type TryFormulaOptions, tryFormulaCommand } from './commands/try-formula.ts';
import { type TryPlanOptions, tryPlanCommand } from './commands/try-plan.ts';
import { units, unitsText } from './commands/units.ts';
import { type UpdateOptions, update } from './commands/update.ts';
import { type WireForwardOptions, wireForward, wireListen } from './commands/wire-forward.ts';
import { layoutOf } from './folder/layout.ts';
import { openCaller } from './portal/call.ts';
import type { PortalRoute } from './portal/route.ts';
import type { ConfigurationKey } from './settings/configuration.ts';
import { addSettings } from './settings/options.ts';
import { enrollmentTokenOf } from './settings/tokens.ts';
import { escapeControls } from './terminal.ts';
import { settleTrial } from './update/trial.ts';
import { agentVersion } from './version.ts';

const print = (line: string) => console.log(escapeControls(line));
const printError = (line: string) => console.error(escapeControls(line));
const environment = process.env;
const stopping = new AbortController();
// `disconnect`: the parent process, which started the agent with an IPC channel, has ended.
for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.on(event, () => stopping.abort());

const program = new Command('agent')
  .description('The reference guest agent of Annex. It keeps its files in the folder --dir.')
  .version(agentVersion);

const way: ConfigurationKey[] = ['proxy', 'directHosts', 'ca'];
type Way = Omit<PortalRoute, 'environment'>;
const callerOf = ({ proxy, directHosts, ca }: Way) => openCaller({ proxy, directHosts, ca, environment });

const logging: ConfigurationKey[] = ['logFormat', 'logMegabytes', 'logFiles'];
// systemd sets JOURNAL_STREAM for programs whose output goes to its journal.
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

command('enroll', 'create a key and certificate, and enroll this machine at a portal', [
  'portal',
  'tokenFile',
  'name',
  ...way,
])
  .option(
    '--token <token>',
    'enrollment token of the VM; visible to other users of the machine, unlike ANNEX_ENROLLMENT_TOKEN',
  )
  .addOption(
    new Option('--instance-id <id>', 'instance id, if the VM is a machine of a model').env('ANNEX_AGENT_INSTANCE_ID'),
  )
  .addOption(
    new Option(
      '--internal-address <address>',
      'IPv4 address of this machine in the network of its model (default: that of the connection to the portal)',
    ).env('ANNEX_AGENT_INTERNAL_ADDRESS'),
  )
  .option('--again', 'replace the identity of an enrolled machine, for example if it is a copy')
  .action(
    async (
      options: Way & {
        portal?: string;
        token?: string;
        tokenFile?: string;
        dir: string;
        name?: string;
        again?: boolean;
        instanceId?: string;
        internalAddress?: string;
      },
    ) => {
      const { portal } = options;
      if (portal === undefined) throw new AgentError('No portal. Set --portal, for example https://annex.example.net.');
      const variable = environment.ANNEX_ENROLLMENT_TOKEN;
      const token = await enrollmentTokenOf({ ...options, variable, input: process.stdin, output: process.stderr });
      await enroll({ ...options, portal, token, call: callerOf(options) }, print);
    },
  );

for (const [name, description, action] of [
  ['run', 'apply the goal state of this machine and keep it applied', run],
  ['once', 'fetch the goal state once, apply it, report, and exit', once],
] as const) {
  command(name, description, [
    'heartbeatSeconds',
    'statusSeconds',
    'statusAfterConclusion',
    'rebootCommand',
    'waagentFolder',
    'bootIdFile',
    'executionPlans',
    'python',
    ...amqpKeys,
    'amqpTag',
    'planPrivateHosts',
    'planCacheMegabytes',
    ...logging,
    ...way,
  ])
    .option('--disable-on-exit', 'disable every handler when the agent stops, for demos and tests')
    .action(async (options: Way & Omit<RunOptions, 'call' | 'environment'>) => {
      const logFormat = logFormatOf(options);
      const program = process.argv[1];
      const { proxy, directHosts, ca } = options;
      const route = { proxy, directHosts, ca, environment };
      const own = { logFormat, call: callerOf(options), route, environment, program };
      await action({ ...options, ...own }, print, stopping.signal);
    });
}

command('renew-key', 'replace the key pair of this machine, through the agent if it is running', way).action(
  async (options: Way & { dir: string }) => {
    await renewKeyNow({ dir: options.dir, call: callerOf(options) }, print);
  },
);

command(
  'update',
  'replace this agent with the one that the portal serves, and restore it if the new one does not poll',
  way,
)
  .option('--poll-seconds <n>', 'seconds in which the new agent must poll the portal', countOf, 120)
  .option('--restart-command <command>', 'command that restarts the agent (default: systemctl restart annex-agent)')
  .action(async (options: Way & Omit<UpdateOptions, 'call' | 'program' | 'signal'>) => {
    const own = { call: callerOf(options), program: process.argv[1] ?? '', signal: stopping.signal };
    await update({ ...options, ...own }, print);
  });

program
  .command('settle-update', { hidden: true })
  .requiredOption('--dir <dir>')
  .action(({ dir }: { dir: string }) => {
    if (settleTrial(layoutOf(dir), Date.now()) === 'returned') print('The previous agent is installed again.');
  });

command('status', 'show the state of the agent', ['bootIdFile'])
  .option('--json', 'print JSON')
  .action((options: { dir: string; bootIdFile?: string; json?: boolean }) => {
    print(options.json ? JSON.stringify(status(options), null, 2) : statusText(options));
  });

command('units', 'show the units on this machine, the hooks that are due, and those that fail')
  .option('--json', 'print JSON')
  .action((options: { dir: string; json?: boolean }) => {
    print(options.json ? JSON.stringify(units(options), null, 2) : unitsText(options));
  });

command('logs', 'show the journal of the agent, and the output of the commands of an extension')
  .argument('[extension]', 'name of an extension (default: the whole journal)')
  .option('--lines <n>', 'number of lines from the end of each log, 0 for all', countOf, 100)
  .option('--json', 'print JSON')
  .action((extension: string | undefined, options: LogsOptions) => logs(extension, options, print));

command('wire-forward', 'connect a stock agent (the Azure Linux agent) to the gateway as its VM', [
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
  'check for problems of the agent, and say how to fix them',
  ['portal', 'rebootCommand', 'bootIdFile', 'executionPlans', ...amqpKeys, ...way],
  (error) => {
    configurationFault = sentenceOf(error);
  },
)
  .option('--json', 'print JSON')
  .action(async (options: Way & AmqpOptions & Omit<DoctorOptions, 'call' | 'configurationFault' | 'amqp'>) => {
    let call = openCaller({ environment });
    let amqp: DoctorOptions['amqp'] = null;
    try {
      call = callerOf(options);
      amqp = amqpSettingsOf(options);
    } catch (error) {
      configurationFault ??= sentenceOf(error);
    }
    if (!(await doctor({ ...options, call, amqp, configurationFault }, print))) process.exitCode = 1;
  });

command('install-unit', 'print or write the systemd unit of this agent')
  .option('--user <name>', 'user that runs the agent and its handlers', 'root')
  .option('--write [file]', 'write it to a file (default: /etc/systemd/system/annex-agent.service)')
  .option(
    '--program <path...>',
    'paths of Node and the agent on the machine of the unit (default: those of this agent)',
  )
  .action((options: InstallUnitOptions) => installUnit(options, print));

interface TrialPlace {
  network?: boolean;
  json?: boolean;
}

/**
 * Runs this command again in isolation and exits. Returns if the command is already isolated, if network access was
 * requested, or if isolation is not possible.
 */
async function enterIsolation(what: string, { network, json }: TrialPlace): Promise<void> {
  if (!network && environment[isolationVariable] === undefined) {
    const code = await runIsolated(process.argv.slice(1), environment, stopping.signal);
    if (code !== null) process.exit(code);
  }
  const how = environment[isolationVariable] ?? 'with network access, in the process namespace of this machine';
  if (!json) printError(`Running the ${what} ${how}.`);
}

const many = (text: string, before: string[] = []) => [...before, text];
program
  .command('try')
  .description('run a package through the whole life cycle of a handler and check it, without a portal')
  .argument('<package.zip>', 'the package, named like Acme.Lab.Probe-1.0.0.0.zip')
  .option('--previous <old.zip>', 'the previous version, for the update (default: the package itself)')
  .option('--resources <messages.json>', 'resource file of one language; can be repeated', many)
  .option('--settings <json>', 'settings: { "publicSettings": { }, "protectedSettings": { } }, or a file with them')
  .option('--new-settings <json>', 'settings of the second configuration (default: the same)')
  .option('--handler <name>', 'name of the handler, if the file name does not contain it')
  .option('--handler-version <version>', 'version of the handler, if the file name does not contain it')
  .option('--status-seconds <n>', 'seconds to wait for the first status', countOf, 120)
  .option('--settle-seconds <n>', 'seconds to wait for the status success', countOf, 300)
  .option('--heartbeat-seconds <n>', 'seconds to wait for a new heartbeat, 0 to skip the check', countOf, 60)
  .option('--command-seconds <n>', 'timeout of each command in seconds', countOf, 300)
  .option(
    '--waagent-folder <folder>',
    'folder in which a handler written for the stock agent looks for keys, or none; default as for run',
  )
  .option('--network', 'do not isolate the handler from the network')
  .option('--json', 'print JSON')
  .action(async (zip: string, options: TryOptions & TrialPlace) => {
    await enterIsolation('package', options);
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

program
  .command('try-formula')
  .description('run the hooks of a formula through the life of a unit and check them, without a portal')
  .argument('<formula.zip>', 'the package of the formula')
  .option('--settings <json>', 'settings of the service: a JSON object, or a file with it')
  .option('--remote <relation=json>', 'what related units set, such as db={"host":"10.0.0.4"}; can be repeated', many)
  .option('--resources <messages.json>', 'resource file of one language; can be repeated', many)
  .option('--hook-seconds <n>', 'time limit of hooks that have none in metadata.yaml', countOf, 300)
  .option('--network', 'do not isolate the hooks from the network')
  .option('--json', 'print JSON')
  .action(async (zip: string, options: TryFormulaOptions & TrialPlace) => {
    await enterIsolation('formula', options);
    const say = options.json ? () => {} : printError;
    if (!(await tryFormulaCommand(zip, options, environment, print, say, stopping.signal))) process.exitCode = 1;
  });

program
  .command('try-plan')
  .description('run an execution plan and check it, without a portal')
  .argument('<plan.json>', 'the plan')
  .option('--parameters <json>', 'parameters that replace those of the plan: a JSON object, or a file with it')
  .option('--secret <name=file>', 'a secret parameter, and a file with its value; can be repeated', many)
  .option('--file <id=path>', 'the contents of a file of the plan; can be repeated', many)
  .option('--service <name>', 'the Service of the plan')
  .option('--twice', 'run the plan a second time, and compare the results')
  .option('--timeout-seconds <n>', 'timeout of each run in seconds', countOf, 3600)
  .option('--python <program>', 'the Python 3 that runs the Body (default: python3)')
  .option('--network', 'do not isolate the plan from the network')
  .option('--json', 'print JSON')
  .action(async (plan: string, options: TryPlanOptions & TrialPlace) => {
    await enterIsolation('plan', options);
    const say = options.json ? () => {} : printError;
    if (!(await tryPlanCommand(plan, options, environment, print, say, stopping.signal))) process.exitCode = 1;
  });

try {
  await program.parseAsync();
  // Keep-alive connections would keep the process running for a while.
  process.exit();
} catch (error) {
  printError(error instanceof AgentError ? error.message : `The agent failed: ${sentenceOf(error)}`);
  process.exit(1);
}
