import type { Layout } from '../folder/layout.ts';
import type { HandlerFolders } from './folders.ts';

export interface EnvironmentInput {
  layout: Layout;
  folders: HandlerFolders;
  handler: string;
  version: string;
  extension: string;
  sequenceNumber: number;
  /** While updating: the version that is replaced, and its folder. */
  previous?: { version: string; root: string };
  /** The agent's own PATH, HOME, LANG and TZ; nothing else of its environment reaches a handler. */
  inherited: Record<string, string | undefined>;
}

const inheritedNames = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ'];

/** The environment of a handler's command; docs/protocol.md lists it, and nothing beyond it is passed. */
export function handlerEnvironmentOf(input: EnvironmentInput): Record<string, string> {
  const { layout, folders, handler, version, extension, sequenceNumber, previous, inherited } = input;
  const environment: Record<string, string> = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ANNEX_HANDLER: handler,
    ANNEX_HANDLER_VERSION: version,
    ANNEX_HANDLER_ROOT: folders.root,
    ANNEX_EXTENSION: extension,
    ANNEX_SEQUENCE_NUMBER: String(sequenceNumber),
    ANNEX_CERTIFICATE_FOLDER: layout.certificates,
    // The names that handlers written for Azure's own agent look for.
    ConfigSequenceNumber: String(sequenceNumber),
    ConfigExtensionName: extension,
    AZURE_GUEST_AGENT_EXTENSION_PATH: folders.root,
    AZURE_GUEST_AGENT_EXTENSION_VERSION: version,
  };
  for (const name of inheritedNames) {
    const value = inherited[name];
    if (value) environment[name] = value;
  }
  if (previous !== undefined) {
    environment.ANNEX_PREVIOUS_VERSION = previous.version;
    environment.ANNEX_PREVIOUS_ROOT = previous.root;
    environment.AZURE_GUEST_AGENT_UPDATING_FROM_VERSION = previous.version;
  }
  return environment;
}
