import { type Command, InvalidArgumentError, Option } from 'commander';
import { layoutOf } from '../folder/layout.ts';
import { type Configuration, type ConfigurationKey, configuration, readConfiguration } from './configuration.ts';

interface Setting {
  flags: string;
  what: string;
  env: string;
  /**
   * Other variables with the same meaning. They take precedence over the file, and are read where the setting is used.
   */
  commonEnv?: string[];
  fallback?: string | number;
  /** Whether the value is a number although there is no fixed default. */
  isNumber?: boolean;
}

/** The option and variables for each setting of `config.json`. Omits `--dir`, which says where the file is. */
const settings = {
  portal: { flags: '--portal <url>', what: 'address of the portal or its gateway', env: 'ANNEX_AGENT_PORTAL' },
  name: {
    flags: '--name <name>',
    what: 'common name of the certificate (default: the host name)',
    env: 'ANNEX_AGENT_NAME',
  },
  tokenFile: {
    flags: '--token-file <file>',
    what: 'file with the enrollment token, - for stdin',
    env: 'ANNEX_ENROLLMENT_TOKEN_FILE',
    commonEnv: ['ANNEX_ENROLLMENT_TOKEN'],
  },
  heartbeatSeconds: {
    flags: '--heartbeat-seconds <n>',
    what: 'seconds between readings of heartbeat files',
    env: 'ANNEX_AGENT_HEARTBEAT_SECONDS',
    fallback: 120,
  },
  statusSeconds: {
    flags: '--status-seconds <n>',
    what: 'seconds between readings of status files',
    env: 'ANNEX_AGENT_STATUS_SECONDS',
    fallback: 300,
  },
  statusAfterConclusion: {
    flags: '--status-after-conclusion <what>',
    what: 'whether later statuses are read after success or error: follow or stop',
    env: 'ANNEX_AGENT_STATUS_AFTER_CONCLUSION',
    fallback: 'follow',
  },
  rebootCommand: {
    flags: '--reboot-command <command>',
    what: 'command that restarts the machine when an install requires it',
    env: 'ANNEX_AGENT_REBOOT_COMMAND',
  },
  executionPlans: {
    flags: '--execution-plans <on|off>',
    what: 'whether this machine runs execution plans',
    env: 'ANNEX_AGENT_EXECUTION_PLANS',
    fallback: 'on',
  },
  python: {
    flags: '--python <program>',
    what: 'Python 3 that runs the Bodies of execution plans',
    env: 'ANNEX_AGENT_PYTHON',
    fallback: 'python3',
  },
  amqpHost: {
    flags: '--amqp-host <host>',
    what: 'AMQP broker from which this machine takes execution plans (default: none)',
    env: 'ANNEX_AGENT_AMQP_HOST',
  },
  amqpPort: {
    flags: '--amqp-port <n>',
    what: 'port of the broker (default: 5671, or 5672 without TLS)',
    env: 'ANNEX_AGENT_AMQP_PORT',
    isNumber: true,
  },
  amqpTls: {
    flags: '--amqp-tls <on|off>',
    what: 'whether the connection to the broker uses TLS',
    env: 'ANNEX_AGENT_AMQP_TLS',
    fallback: 'on',
  },
  amqpCa: {
    flags: '--amqp-ca <file>',
    what: 'PEM file with the authorities to trust for the broker (default: those of this machine)',
    env: 'ANNEX_AGENT_AMQP_CA',
  },
  amqpVirtualHost: {
    flags: '--amqp-virtual-host <name>',
    what: 'virtual host of the broker',
    env: 'ANNEX_AGENT_AMQP_VIRTUAL_HOST',
    fallback: '/',
  },
  amqpLogin: {
    flags: '--amqp-login <name>',
    what: 'user name at the broker',
    env: 'ANNEX_AGENT_AMQP_LOGIN',
    fallback: 'guest',
  },
  amqpPasswordFile: {
    flags: '--amqp-password-file <file>',
    what: 'file with the password at the broker (default: the password guest)',
    env: 'ANNEX_AGENT_AMQP_PASSWORD_FILE',
  },
  amqpInputQueue: {
    flags: '--amqp-input-queue <name>',
    what: 'queue from which this machine takes plans',
    env: 'ANNEX_AGENT_AMQP_INPUT_QUEUE',
  },
  amqpResultExchange: {
    flags: '--amqp-result-exchange <name>',
    what: 'exchange for results and log messages (default: the default exchange)',
    env: 'ANNEX_AGENT_AMQP_RESULT_EXCHANGE',
  },
  amqpResultRoutingKey: {
    flags: '--amqp-result-routing-key <key>',
    what: 'routing key of results and log messages',
    env: 'ANNEX_AGENT_AMQP_RESULT_ROUTING_KEY',
    fallback: 'annex-execution-results',
  },
  amqpDynamicReply: {
    flags: '--amqp-dynamic-reply <on|off>',
    what: 'whether a plan can name the queue of its answers',
    env: 'ANNEX_AGENT_AMQP_DYNAMIC_REPLY',
    fallback: 'off',
  },
  amqpHeartbeatSeconds: {
    flags: '--amqp-heartbeat-seconds <n>',
    what: 'seconds between heartbeats of the connection to the broker',
    env: 'ANNEX_AGENT_AMQP_HEARTBEAT_SECONDS',
    fallback: 20,
  },
  amqpTag: {
    flags: '--amqp-tag <name>',
    what: 'tag of log messages (default: the host name)',
    env: 'ANNEX_AGENT_AMQP_TAG',
  },
  planPrivateHosts: {
    flags: '--plan-private-hosts <list>',
    what: 'hosts in private networks from which execution plans may fetch files: names, addresses or networks',
    env: 'ANNEX_AGENT_PLAN_PRIVATE_HOSTS',
  },
  planCacheMegabytes: {
    flags: '--plan-cache-megabytes <n>',
    what: 'size of the cache for files that execution plans fetch',
    env: 'ANNEX_AGENT_PLAN_CACHE_MEGABYTES',
    fallback: 1024,
  },
  waagentFolder: {
    flags: '--waagent-folder <folder>',
    what: 'folder where handlers for the stock agent find keys, or none (default: /var/lib/waagent, as root without that agent)',
    env: 'ANNEX_AGENT_WAAGENT_FOLDER',
  },
  bootIdFile: {
    flags: '--boot-id-file <file>',
    what: 'file whose text changes with each start of the machine (default: the boot id of Linux)',
    env: 'ANNEX_AGENT_BOOT_ID_FILE',
  },
  logFormat: {
    flags: '--log-format <format>',
    what: 'output format: plain, json, or systemd for the journal (default: systemd under systemd)',
    env: 'ANNEX_AGENT_LOG_FORMAT',
  },
  logMegabytes: {
    flags: '--log-megabytes <n>',
    what: 'size at which logs/agent.log is rotated',
    env: 'ANNEX_AGENT_LOG_MEGABYTES',
    fallback: 5,
  },
  logFiles: {
    flags: '--log-files <n>',
    what: 'number of rotated files to keep',
    env: 'ANNEX_AGENT_LOG_FILES',
    fallback: 4,
  },
  proxy: {
    flags: '--proxy <url>',
    what: 'HTTP proxy to the portal (default: HTTPS_PROXY or HTTP_PROXY)',
    env: 'ANNEX_AGENT_PROXY',
    commonEnv: ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'],
  },
  directHosts: {
    flags: '--direct-hosts <hosts>',
    what: 'hosts to reach without the proxy, separated by commas (default: NO_PROXY)',
    env: 'ANNEX_AGENT_DIRECT_HOSTS',
    commonEnv: ['NO_PROXY', 'no_proxy'],
  },
  ca: {
    flags: '--ca <file>',
    what: 'PEM file with additional certificate authorities to trust',
    env: 'ANNEX_AGENT_CA',
  },
  gateway: { flags: '--gateway <url>', what: 'address of the gateway', env: 'ANNEX_AGENT_GATEWAY' },
  vm: { flags: '--vm <id>', what: 'id of the VM', env: 'ANNEX_AGENT_VM' },
  guestTokenFile: {
    flags: '--guest-token-file <file>',
    what: 'file with the forwarder token, - for stdin',
    env: 'ANNEX_GUEST_TOKEN_FILE',
    commonEnv: ['ANNEX_GUEST_TOKEN'],
  },
  networkNamespace: {
    flags: '--network-namespace <name>',
    what: "network namespace of the guest, a name from `ip netns` or a path (default: this machine's)",
    env: 'ANNEX_AGENT_NETWORK_NAMESPACE',
  },
  wireAddress: {
    flags: '--wire-address <address>',
    what: 'address at which the agent calls the WireServer',
    env: 'ANNEX_AGENT_WIRE_ADDRESS',
    fallback: '168.63.129.16:80',
  },
  pluginAddress: {
    flags: '--plugin-address <address>',
    what: 'address at which the agent calls the HostGAPlugin',
    env: 'ANNEX_AGENT_PLUGIN_ADDRESS',
    fallback: '168.63.129.16:32526',
  },
  metadataAddress: {
    flags: '--metadata-address <address>',
    what: 'address at which the agent reads instance metadata, or none',
    env: 'ANNEX_AGENT_METADATA_ADDRESS',
    fallback: '169.254.169.254:80',
  },
  allowUids: {
    flags: '--allow-uids <numbers>',
    what: 'ids of the users in the guest that can call, separated by commas',
    env: 'ANNEX_AGENT_ALLOW_UIDS',
    fallback: '0',
  },
  clients: {
    flags: '--clients <addresses>',
    what: 'addresses of a guest on another machine, from which every user can call (default: none)',
    env: 'ANNEX_AGENT_CLIENTS',
  },
} satisfies Record<ConfigurationKey, Setting>;

export type Environment = Record<string, string | undefined>;

const precedence = `
Every setting is taken from the first place that has it: the option, its environment variable, config.json in the
folder of --dir (heartbeatSeconds for --heartbeat-seconds), the default.`;

/**
 * Adds `--dir` and the named settings to a command. Before the command's action runs, missing settings are read from
 * the file. `onFault` receives the fault of an invalid file, which is then ignored; by default, the fault is thrown.
 */
export function addSettings(
  command: Command,
  keys: ConfigurationKey[],
  environment: Environment,
  onFault: (error: unknown) => void = rethrow,
): Command {
  command.addOption(new Option('--dir <dir>', 'folder of the agent').env('ANNEX_AGENT_DIR').makeOptionMandatory());
  if (keys.length === 0) return command;
  for (const key of keys) command.addOption(optionOf(key));
  return command.addHelpText('after', precedence).hook('preAction', (_, acting) => {
    const file = readOrReport(acting.opts<{ dir: string }>().dir, onFault);
    for (const key of keys) {
      const given = ['cli', 'env'].includes(acting.getOptionValueSource(key) ?? '');
      const { commonEnv = [] }: Setting = settings[key];
      if (file[key] === undefined || given || commonEnv.some((name) => environment[name])) continue;
      acting.setOptionValueWithSource(key, file[key], 'file');
    }
  });
}

function readOrReport(dir: string, onFault: (error: unknown) => void): Configuration {
  try {
    return readConfiguration(layoutOf(dir));
  } catch (error) {
    onFault(error);
    return {};
  }
}

function rethrow(error: unknown): never {
  throw error;
}

function optionOf(key: ConfigurationKey): Option {
  const setting: Setting = settings[key];
  const option = new Option(setting.flags, setting.what).env(setting.env).argParser((text) => readValue(key, text));
  return setting.fallback === undefined ? option : option.default(setting.fallback);
}

/** Parses the text of an option and checks it like a value from the file. */
function readValue(key: ConfigurationKey, text: string): unknown {
  const setting: Setting = settings[key];
  const isNumber = setting.isNumber === true || typeof setting.fallback === 'number';
  const read = configuration.shape[key].safeParse(isNumber && text.trim() !== '' ? Number(text) : text);
  if (!read.success) throw new InvalidArgumentError(`It ${read.error.issues[0]?.message ?? 'cannot be used.'}`);
  return read.data;
}
