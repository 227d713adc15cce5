import type { CommandName } from '#protocol/index.ts';

/** The relevant part of a step. */
interface Ran {
  purpose: string;
  extensions: string[];
}

/** The value for a command that did not run. */
const notRun = 'NOT_RUN';
/** The value for a command without an exit code: it timed out, or a signal ended it. */
const ended = '-1';

/** The exit codes of a replacement's commands, by extension, for the commands after them. */
export class ExitCodes {
  private readonly codes = new Map<string, string>();

  /** Only commands that replace a version are followed by others that need their exit codes. */
  note({ purpose, extensions }: Ran, kind: CommandName, exitCode: number | null): void {
    if (purpose !== 'update' && purpose !== 'downgrade') return;
    for (const name of extensions) this.codes.set(`${kind} ${name}`, exitCode === null ? ended : String(exitCode));
  }

  /** The variables of a command, as in Azure's own agent. */
  variablesFor({ extensions }: Pick<Ran, 'extensions'>, kind: CommandName, isNamed: boolean): Record<string, string> {
    const of = (before: CommandName, name = '') => this.codes.get(`${before} ${name}`) ?? notRun;
    if (kind === 'install' || kind === 'enable') {
      return { AZURE_GUEST_AGENT_UNINSTALL_CMD_EXIT_CODE: of('uninstall', extensions[0]) };
    }
    if (kind !== 'update') return {};
    if (!isNamed) return { AZURE_GUEST_AGENT_DISABLE_CMD_EXIT_CODE: of('disable', extensions[0]) };
    const each = extensions.map((extensionName) => ({ extensionName, exitCode: of('disable', extensionName) }));
    return { AZURE_GUEST_AGENT_DISABLE_CMD_EXIT_CODES_MULTIPLE_EXTENSIONS: JSON.stringify(each) };
  }
}
