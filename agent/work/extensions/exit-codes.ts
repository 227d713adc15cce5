import type { CommandName } from '#protocol/index.ts';

/** Of a step, what matters here. */
interface Ran {
  purpose: string;
  extensions: string[];
}

/** What handlers get for a command that did not run. */
const notRun = 'NOT_RUN';
/** For one that has no exit code, because its time was over or it was ended by a signal. */
const ended = '-1';

/** How the commands of a replacement ended, by extension, so that the commands after them can be told. */
export class ExitCodes {
  private readonly codes = new Map<string, string>();

  /** Commands that bring a handler to its goal have nothing after them that asks. */
  note({ purpose, extensions }: Ran, kind: CommandName, exitCode: number | null): void {
    if (purpose !== 'update' && purpose !== 'downgrade') return;
    for (const name of extensions) this.codes.set(`${kind} ${name}`, exitCode === null ? ended : String(exitCode));
  }

  /** The variables of a command, as Azure's own agent sets them. */
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
