import type { AgentLayout } from '../folder/layout.ts';
import type { HandlerFolders } from './folders.ts';

export interface EnvironmentInput {
  layout: AgentLayout;
  folders: HandlerFolders;
  handler: string;
  version: string;
  extension: string;
  /** Whether the handler supports several extensions; if so, file names include the extension's name. */
  isNamed: boolean;
  sequenceNumber: number;
  /** During an update: the version being replaced, and its folder. */
  previous?: { version: string; root: string };
  /** Exit codes of earlier commands, keyed by the stock agent's variable names. */
  exitCodes: Record<string, string>;
  /** The agent's own environment; only PATH, HOME, LANG, LC_ALL and TZ reach a handler. */
  inherited: Record<string, string | undefined>;
}

/** PATH for handlers if the agent has none. */
export const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const inheritedNames = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ'];
/**
 * IP address of Azure's WireServer. Outside Azure, nothing responds there unless `wire-forward` runs on the machine.
 */
const wireServer = '168.63.129.16';
/**
 * Features in the stock agent's format. `ExtensionTelemetryPipeline` makes handlers write events into `eventsFolder`;
 * the agent does not send them.
 */
const supportedFeatures = JSON.stringify([{ Key: 'ExtensionTelemetryPipeline', Value: '1.0' }]);

/**
 * Returns the environment of a handler's command: the variables in docs/protocol.md, except `ANNEX_COMMAND`, and no
 * others.
 */
export function handlerEnvironmentOf(input: EnvironmentInput): Record<string, string> {
  const { layout, folders, handler, version, extension, isNamed, sequenceNumber, previous, inherited } = input;
  const environment: Record<string, string> = {
    ANNEX_HANDLER: handler,
    ANNEX_HANDLER_VERSION: version,
    ANNEX_HANDLER_ROOT: folders.root,
    ANNEX_EXTENSION: extension,
    ANNEX_SEQUENCE_NUMBER: String(sequenceNumber),
    ANNEX_CERTIFICATE_FOLDER: layout.certificates,
    // Variables for handlers that were written for the stock agent.
    ConfigSequenceNumber: String(sequenceNumber),
    ...(isNamed && { ConfigExtensionName: extension }),
    AZURE_GUEST_AGENT_EXTENSION_PATH: folders.root,
    AZURE_GUEST_AGENT_EXTENSION_VERSION: version,
    AZURE_GUEST_AGENT_EXTENSION_SUPPORTED_FEATURES: supportedFeatures,
    AZURE_GUEST_AGENT_WIRE_PROTOCOL_ADDRESS: wireServer,
    ...input.exitCodes,
  };
  Object.assign(environment, inheritedEnvironment(inherited));
  if (previous !== undefined) {
    environment.ANNEX_PREVIOUS_VERSION = previous.version;
    environment.ANNEX_PREVIOUS_ROOT = previous.root;
    environment.VERSION = version;
    environment.AZURE_GUEST_AGENT_UPDATING_FROM_VERSION = previous.version;
  }
  return environment;
}

/** Returns the part of the environment that handlers and the restart command inherit, without tokens or credentials. */
export function inheritedEnvironment(own: Record<string, string | undefined>): Record<string, string> {
  const environment: Record<string, string> = { PATH: defaultPath };
  for (const name of inheritedNames) {
    const value = own[name];
    if (value) environment[name] = value;
  }
  return environment;
}
