import { executionLimits } from '#protocol/executions/index.ts';
import { sync } from '../../folder/write-file.ts';
import { agentVersion } from '../../version.ts';
import type { BootMoment } from '../../watch/moment.ts';
import { CallError } from '../call-error.ts';
import type { EndWishes, ExecutionContext } from '../execution-context.ts';
import { ExecutionFiles } from './files.ts';
import { RebootApi } from './reboots.ts';
import { ServiceState } from './state.ts';

/** Calls that change nothing outside of the agent's memory, and therefore need no record before they begin. */
const unrecorded = new Set(['version', 'getState', 'setExitCode', 'addFile', 'reboot', 'expectReboots']);
/** Calls that may run twice, because their effect is on disk before they are answered, and is the same both times. */
const repeatable = new Set(['setState', 'removeState']);
/** Calls whose effect is in the agent's memory. They run again when they are answered from the journal. */
const remembered = new Set(['setExitCode', 'addFile', 'reboot']);

/** Whether the journal records the beginning of this call of `api`. */
export const isRecorded = (name: string): boolean => !unrecorded.has(name) && !repeatable.has(name);

/** Whether this call of `api` may run again even if it has already been answered. */
export const isRepeatable = (name: string): boolean => repeatable.has(name);

type Arguments = [given: readonly unknown[], named: Readonly<Record<string, unknown>>];

/** Answers the `api` calls of one execution. */
export class ExecutionApi {
  private readonly files: ExecutionFiles;
  private readonly state: ServiceState;
  private readonly reboots: RebootApi;
  private readonly wishes: EndWishes;

  constructor(context: ExecutionContext, wishes: EndWishes) {
    this.files = new ExecutionFiles(context);
    this.state = new ServiceState(context.folders.states, context.plan.service);
    this.reboots = new RebootApi(context, wishes);
    this.wishes = wishes;
  }

  /** Returns the answer to a call as JSON text. Throws if the call fails. `since`: when the call first began. */
  async call(name: string, [given, named]: Arguments, since: BootMoment): Promise<string> {
    const argument = (index: number, key: string): unknown => (index < given.length ? given[index] : named[key]);
    switch (name) {
      case 'version':
        return JSON.stringify(agentVersion);
      case 'setExitCode':
        this.setExitCode(Number(JSON.stringify(argument(0, 'code') ?? null)));
        return 'null';
      case 'getState':
        return this.state.get(argument(0, 'key'));
      case 'setState':
        this.state.set(argument(0, 'key'), argument(1, 'value'));
        return 'null';
      case 'removeState':
        this.state.set(argument(0, 'key'), null);
        return 'null';
      case 'putFile': {
        const path = await this.files.put(argument(0, 'file_id'), argument(1, 'path'));
        // After a power failure, the call is answered from the journal, so its file must be on disk.
        sync(path);
        return JSON.stringify(path);
      }
      case 'addFile':
        return JSON.stringify(this.files.add(argument(0, 'file')));
      case 'reboot':
        this.reboots.reboot();
        return 'null';
      case 'expectReboots':
        this.reboots.expect(argument(0, 'count'));
        return 'null';
      case 'waitReboot':
        return this.reboots.wait(argument(0, 'timeout'), since);
      default:
        throw new CallError('NotSupported', `This agent does not support api.${name}.`);
    }
  }

  /** Repeats the effect of a call that is answered from the journal, if the effect was in the agent's memory. */
  async repeat(name: string, args: Arguments, since: BootMoment): Promise<void> {
    if (remembered.has(name)) await this.call(name, args, since);
  }

  close(): void {
    this.state.close();
  }

  private setExitCode(code: number): void {
    const most = executionLimits.userExitCode;
    if (!Number.isInteger(code) || code < 0 || code > most) {
      throw new CallError('ValueError', `The exit code must be a whole number from 0 to ${most}.`);
    }
    this.wishes.exitCode = code;
  }
}
