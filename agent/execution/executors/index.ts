import { application } from './application.ts';
import { bash } from './bash.ts';
import { chef } from './chef.ts';
import type { Executor } from './executor.ts';
import { powerShell } from './power-shell.ts';
import { puppet } from './puppet.ts';
import { python } from './python.ts';
import { saltStack } from './salt-stack.ts';

/** The executors of this agent. A new executor needs one file, and one line here (MU-4). */
export const executors: readonly Executor[] = [application, bash, python, powerShell, puppet, chef, saltStack];

export * from './executor.ts';
