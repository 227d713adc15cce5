import { executionLimits } from '#protocol/executions/index.ts';
import { agentVersion } from '../../version.ts';
import { CallError } from '../call-error.ts';
import type { EndWishes, ExecutionContext } from '../execution-context.ts';
import { ExecutionFiles } from './files.ts';
import { ServiceState } from './state.ts';

/** Answers the `api` calls of one execution. */
export class ExecutionApi {
  private readonly files: ExecutionFiles;
  private readonly state: ServiceState;
  private readonly wishes: EndWishes;

  constructor(context: ExecutionContext, wishes: EndWishes) {
    this.files = new ExecutionFiles(context);
    this.state = new ServiceState(context.folders.states, context.plan.service);
    this.wishes = wishes;
  }

  /** Returns the answer to a call as JSON text. Throws if the call fails. */
  call(name: string, given: readonly unknown[], named: Readonly<Record<string, unknown>>): string {
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
      case 'putFile':
        return JSON.stringify(this.files.put(argument(0, 'file_id'), argument(1, 'path')));
      case 'addFile':
        return JSON.stringify(this.files.add(argument(0, 'file')));
      default:
        throw new CallError('NotSupported', `This agent does not support api.${name} yet.`);
    }
  }

  private setExitCode(code: number): void {
    const most = executionLimits.userExitCode;
    if (!Number.isInteger(code) || code < 0 || code > most) {
      throw new CallError('ValueError', `The exit code must be a whole number from 0 to ${most}.`);
    }
    this.wishes.exitCode = code;
  }
}
