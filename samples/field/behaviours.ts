import { createHash } from 'node:crypto';

/** What an operator declares for one extension. */
export interface FieldGoal {
  version: string;
  state?: 'enabled' | 'disabled';
  publicSettings?: Record<string, unknown>;
  protectedSettings?: Record<string, unknown>;
}

/** One change on the VM and its expected result, with either agent. */
export interface FieldStep {
  /** Name of the extension; `field` unless the handler has several. */
  extension?: string;
  /** `remove`: the extension is uninstalled. */
  goal: FieldGoal | 'remove';
  /** The final state that the agent reports. */
  state: 'enabled' | 'disabled' | 'failed' | 'removed';
  /** Exit code of the failed command. */
  exitCode?: number;
  /** The last status of the extension in English. */
  status?: { status: 'success' | 'error'; message: string };
  /** The last heartbeat. */
  heartbeat?: 'ready';
  /** A substatus that follows later, while the status stays. */
  substatus?: { name: string; status: 'error' };
  /**
   * The lines that the handler wrote to `calls.log` since the previous step, oldest first, without times: the version
   * from the agent, the command, facts.
   */
  calls: string[];
}

/** A handler that works like handlers for Azure's agent, and its lifecycle on a VM. */
export interface FieldHandler {
  handler: string;
  /** The public handlers that this handler resembles. */
  like: string;
  /** The agent behavior that the handler relies on. */
  reliesOn: string;
  /** From install to uninstall; sequence numbers of an extension are 1, 2, 3, … */
  steps: FieldStep[];
}

const digest = (secret: string) => createHash('sha256').update(secret).digest('hex').slice(0, 12);
const success = (message: string) => ({ status: 'success' as const, message });

/** Lifecycle of a handler with one version: install and enable, then new settings, then uninstall. */
function usualLife(version: string, first: Omit<FieldGoal, 'version'>, status: string): FieldStep[] {
  return [
    {
      goal: { version, ...first },
      state: 'enabled',
      status: success(status),
      calls: [`${version} install`, `${version} enable 1`],
    },
    { goal: 'remove', state: 'removed', calls: [`${version} disable`, `${version} uninstall`] },
  ];
}

/** Every behavior runs unchanged on the reference agent and on the stock Azure Linux agent. */
export const fieldHandlers: FieldHandler[] = [
  {
    handler: 'Field.Scripts.CustomScript',
    like: 'CustomScript 2',
    reliesOn:
      'runtimeSettings of the highest number, keys two folders above the settings, an enable that goes on in the background, settings files that the handler empties',
    steps: [
      {
        goal: {
          version: '2.1.10',
          publicSettings: { commandToExecute: 'hello' },
          protectedSettings: { storageAccountKey: 'first-key' },
        },
        state: 'enabled',
        status: success(`ran hello with ${digest('first-key')}`),
        calls: ['2.1.10 install', '2.1.10 enable 1'],
      },
      {
        goal: {
          version: '2.1.10',
          publicSettings: { commandToExecute: 'again' },
          protectedSettings: { storageAccountKey: 'other-key' },
        },
        state: 'enabled',
        status: success(`ran again with ${digest('other-key')}`),
        calls: ['2.1.10 enable 2'],
      },
      { goal: 'remove', state: 'removed', calls: ['2.1.10 disable', '2.1.10 uninstall'] },
    ],
  },
  {
    handler: 'Field.Access.Users',
    like: 'VMAccess and others built on HandlerUtil',
    reliesOn:
      'name in HandlerEnvironment.json, name and version in the name of its folder, the freshest settings file, keys in /var/lib/waagent, version and code as text in its status',
    steps: usualLife(
      '1.5.24',
      { publicSettings: { username: 'ada' }, protectedSettings: { password: 'correct-horse' } },
      `ada has password ${digest('correct-horse')} since 1.5.24`,
    ),
  },
  {
    handler: 'Field.Containers.Docker',
    like: 'Docker',
    reliesOn: 'HandlerEnvironment.json above its program, exit codes of its own',
    steps: [
      {
        goal: { version: '1.2' },
        state: 'failed',
        exitCode: 9,
        status: { status: 'error', message: 'port is missing' },
        calls: ['1.2 install', '1.2 enable 1'],
      },
      {
        goal: { version: '1.2', publicSettings: { port: '2376' }, protectedSettings: { ca: 'certificate' } },
        state: 'enabled',
        status: success(`listens on 2376 with ${digest('certificate')}`),
        calls: ['1.2 enable 2'],
      },
      { goal: 'remove', state: 'removed', calls: ['1.2 disable', '1.2 uninstall'] },
    ],
  },
  {
    handler: 'Field.Patching.Os',
    like: 'OSPatching',
    reliesOn: 'a manifest with text for its version and booleans, helpers without the right to be run in the zip',
    steps: [
      {
        goal: { version: '2.0.0.5', publicSettings: { intervalOfDays: '14' } },
        state: 'enabled',
        status: success('patches every 14 days'),
        calls: ['2.0.0.5 install', '2.0.0.5 enable 1'],
      },
      {
        goal: { version: '2.0.0.5', state: 'disabled', publicSettings: { intervalOfDays: '14' } },
        state: 'disabled',
        calls: ['2.0.0.5 disable'],
      },
      {
        goal: { version: '2.0.0.5', publicSettings: { intervalOfDays: '7' } },
        state: 'enabled',
        status: success('patches every 7 days'),
        calls: ['2.0.0.5 enable 3'],
      },
      { goal: 'remove', state: 'removed', calls: ['2.0.0.5 disable', '2.0.0.5 uninstall'] },
    ],
  },
  {
    handler: 'Field.Diagnostics.Metrics',
    like: 'LinuxDiagnostic and OMS',
    reliesOn: 'a service that outlives enable in a session of its own, heartbeats with version and code as text',
    steps: usualLife('3.0.121', {}, 'collects metrics').map((step, index) =>
      index === 0 ? { ...step, heartbeat: 'ready' as const } : step,
    ),
  },
  {
    handler: 'Field.Monitor.Agent',
    like: 'AzureMonitorLinuxAgent',
    reliesOn: 'UpdateWithInstall, VERSION, exit codes of the commands before',
    steps: [
      {
        goal: { version: '1.9.1' },
        state: 'enabled',
        status: success('runs 1.9.1'),
        calls: ['1.9.1 install after NOT_RUN', '1.9.1 enable 1 after NOT_RUN'],
      },
      {
        goal: { version: '1.10' },
        state: 'enabled',
        status: success('runs 1.10'),
        calls: [
          '1.9.1 disable',
          '1.10 update to 1.10 from 1.9.1 after 0',
          '1.9.1 uninstall',
          '1.10 install after 0',
          '1.10 enable 2 after 0',
        ],
      },
      { goal: 'remove', state: 'removed', calls: ['1.10 disable', '1.10 uninstall'] },
    ],
  },
  {
    handler: 'Field.Commands.Run',
    like: 'RunCommand',
    reliesOn: 'several extensions of one handler, files by ConfigExtensionName',
    steps: [
      {
        extension: 'first',
        goal: { version: '1.3.17', publicSettings: { script: 'hostname' } },
        state: 'enabled',
        status: success('ran hostname'),
        calls: ['1.3.17 install', '1.3.17 enable first.1'],
      },
      {
        extension: 'second',
        goal: { version: '1.3.17', publicSettings: { script: 'uptime' } },
        state: 'enabled',
        status: success('ran uptime'),
        calls: ['1.3.17 enable second.1'],
      },
      { extension: 'first', goal: 'remove', state: 'removed', calls: ['1.3.17 disable first'] },
      {
        extension: 'second',
        goal: 'remove',
        state: 'removed',
        calls: ['1.3.17 disable second', '1.3.17 uninstall'],
      },
    ],
  },
  {
    handler: 'Field.Vault.Certificates',
    like: 'KeyVault',
    reliesOn: 'no ConfigExtensionName for a handler with one extension, ConfigSequenceNumber in every command',
    steps: usualLife('3.0.1.4', { publicSettings: { certificate: 'web' } }, 'watches web'),
  },
  {
    handler: 'Field.Health.Application',
    like: 'ApplicationHealth',
    reliesOn: 'a status that goes on changing after success, with an error in its substatus',
    steps: usualLife('2.0.7', {}, 'probes the application').map((step, index) =>
      index === 0 ? { ...step, substatus: { name: 'AppHealthStatus', status: 'error' as const } } : step,
    ),
  },
  {
    handler: 'Field.Network.Watch',
    like: 'NetworkWatcherAgent',
    reliesOn: 'UpdateWithoutInstall, no settings, the folder of the version before by its version as published',
    steps: [
      {
        goal: { version: '1.4.2' },
        state: 'enabled',
        status: success('installed'),
        calls: ['1.4.2 install', '1.4.2 enable 1'],
      },
      {
        goal: { version: '1.4.16' },
        state: 'enabled',
        status: success('installed,updated'),
        calls: ['1.4.2 disable', '1.4.16 update from 1.4.2', '1.4.2 uninstall', '1.4.16 enable 2'],
      },
      { goal: 'remove', state: 'removed', calls: ['1.4.16 disable', '1.4.16 uninstall'] },
    ],
  },
  {
    handler: 'Field.Config.Dsc',
    like: 'DSC',
    reliesOn: 'mrseq and statuses of the version before in the folder of the new one, AZURE_GUEST_AGENT_EXTENSION_PATH',
    steps: [
      {
        goal: { version: '3' },
        state: 'enabled',
        status: success('applied after none'),
        calls: ['3 install', '3 enable 1'],
      },
      {
        goal: { version: '3.1' },
        state: 'enabled',
        status: success('applied after 1'),
        calls: ['3 disable', '3.1 update after 1 with 1.status', '3 uninstall', '3.1 enable 2'],
      },
      { goal: 'remove', state: 'removed', calls: ['3.1 disable', '3.1 uninstall'] },
    ],
  },
  {
    handler: 'Field.Backup.Snapshot',
    like: 'VMSnapshot',
    reliesOn: 'eventsFolder, AZURE_GUEST_AGENT_EXTENSION_SUPPORTED_FEATURES',
    steps: usualLife('1.0.9111', { publicSettings: { task: 'snapshot' } }, 'took a snapshot'),
  },
];
