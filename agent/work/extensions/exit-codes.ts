import type { CommandName } from '#protocol/index.ts';

interface StepFacts {
  purpose: string;
  extensions: string[];
}

/** The value for a command that has not run. */
const notRun = 'NOT_RUN';
/** The value for a command without an exit code, for example because it timed out or was killed by a signal. */
const ended = '-1';

/** Stores the exit codes of commands that replace a version, by extension. Later commands receive them. */
export class ExitCodes {
  private readonly codes = new Map<string, string>();

  /**
   * Notes an exit code. Ignores commands that do not replace a version, because no later command needs their exit
   * codes.
   */
  note({ purpose, extensions }: StepFacts, kind: CommandName, exitCode: number | null): void {
    if (purpose !== 'update' && purpose !== 'downgrade') return;
    for (const name of extensions) this.codes.set(`${kind} ${name}`, exitCode === null ? ended : String(exitCode));
  }

  /** Returns the variables with exit codes that the stock agent would set for a command. */
  variablesFor(
    { extensions }: Pick<StepFacts, 'extensions'>,
    kind: CommandName,
    isNamed: boolean,
  ): Record<string, string> {
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
