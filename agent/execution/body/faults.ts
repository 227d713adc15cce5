import { errorCodes, type PlanFault, type ResultException } from '#protocol/executions/index.ts';
import { describedEnd } from '../described-end.ts';
import type { BodyEnd } from './body-process.ts';

/** The end of an execution: the error code, and the `Body` of the result as JSON text. */
export interface ExecutionEnd {
  code: number;
  body: string;
}

/** Why a running execution was stopped: it was canceled, it timed out, or the agent stopped. */
export type StopReason = 'cancel' | 'time' | 'stop';

const exception = (code: number, body: Partial<ResultException> & Pick<ResultException, 'Message' | 'Type'>) => ({
  code,
  body: JSON.stringify({ Stack: [], Causes: [], ...body }),
});

/** The end of a canceled execution. */
export const cancelled: ExecutionEnd = {
  code: errorCodes.failed,
  body: JSON.stringify({ Message: 'Cancelled.', Cancelled: true }),
};

/** Returns the end of an execution that timed out. `script`: the script that was running, or null. */
export function timeOver(seconds: number, script: string | null): ExecutionEnd {
  const what = script === null ? 'The Body' : script;
  const Message = `The execution exceeded its timeout of ${seconds} s. ${what} was running.`;
  return exception(errorCodes.timeout, { Message, Type: 'Timeout', AdditionalInfo: { script, seconds } });
}

/** Returns the end of an execution whose plan cannot run because of these faults. */
export function planRefused(code: number, faults: readonly PlanFault[]): ExecutionEnd {
  const list = faults.map(({ path, code: fault }) => `${path === '' ? '/' : path} (${fault})`).slice(0, 20);
  const Message = `The plan cannot run: ${list.join(', ')}.`;
  return exception(code, { Message, Type: 'PlanInvalid', AdditionalInfo: { faults } });
}

/** Returns the end of an execution that failed with an error of this type. */
export function refused(code: number, Type: string, Message: string): ExecutionEnd {
  return exception(code, { Message, Type });
}

/** Converts the end of a Body to the end of its execution. `exitCode`: the argument of `api.setExitCode`, or null. */
export function endOf(end: BodyEnd, exitCode: number | null): ExecutionEnd {
  if ('done' in end) return { code: errorCodes.none, body: end.done };
  if ('failed' in end) {
    const { code } = end.failed;
    const isCode = typeof code === 'number' && Number.isInteger(code) && code > 0;
    const body = JSON.stringify(exceptionOf(end.failed));
    return { code: withUserCode(isCode ? code : errorCodes.failed, exitCode), body };
  }
  const code = withUserCode(errorCodes.failed, exitCode);
  if ('fault' in end) {
    const why = end.fault === 'long' ? 'a frame that is too long' : 'something that is no frame';
    return exception(code, { Message: `The Body wrote ${why} to the agent.`, Type: 'frames' });
  }
  const { exitCode: own, signal } = end.end;
  const Message = describedEnd('The Body', end.end).replace(/\.?$/, '.');
  return exception(code, { Message, Type: 'BodyEnded', AdditionalInfo: { exitCode: own, signal, stderr: end.stderr } });
}

function withUserCode(code: number, exitCode: number | null): number {
  return code === errorCodes.failed && exitCode !== null ? errorCodes.user + exitCode : code;
}

/**
 * Converts an exception from a frame to the format of results. Any field can be missing or have the wrong type, because
 * Bodies can write frames themselves.
 */
function exceptionOf(frame: Record<string, unknown>, depth = 0): ResultException {
  const { message, type, stack, causes, info } = frame;
  const inner = Array.isArray(causes) && depth < 10 ? causes.filter(isObject) : [];
  return {
    Message: String(message ?? ''),
    Type: String(type ?? 'Exception'),
    ...(info !== null && info !== undefined && { AdditionalInfo: info }),
    Stack: Array.isArray(stack) ? stack.map(String) : [],
    Causes: inner.map((cause) => exceptionOf(cause, depth + 1)),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
