import { z } from 'zod';
import { parseCommandLine, parseFormat } from './format-string.ts';
import { executionLimits } from './limits.ts';

/** Platforms for which agents may have executors. The `Type` of a plan's script names one of them (MU-4). */
export const platformNames = ['Application', 'Bash', 'Python', 'PowerShell', 'Puppet', 'Chef', 'SaltStack'] as const;
export type PlatformName = (typeof platformNames)[number];

export const isPlatformName = (type: string): type is PlatformName =>
  (platformNames as readonly string[]).includes(type);

/** Returns a schema for format strings. The message of an issue is the code of the fault. */
const format = (parse: typeof parseFormat | typeof parseCommandLine) =>
  z.string().superRefine((text, ctx) => {
    const result = parse(text);
    if ('fault' in result) ctx.addIssue({ code: 'custom', message: result.fault });
  });

const { least, most } = executionLimits.timeoutSeconds;
const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/);

const common = {
  /** Timeout in seconds; by default the remaining time of the execution. */
  timeout: z.number().min(least).max(most).optional(),
  /** Whether an exit code other than 0 fails the call. */
  verifyExitcode: z.boolean().default(true),
  /** Whether the Body receives the output. The transcript contains the output in any case. */
  captureStdout: z.boolean().default(true),
  captureStderr: z.boolean().default(true),
  /** Environment variables as format strings. */
  environment: z.record(variableName, format(parseFormat)).default({}),
  /** The standard input as a format string. */
  stdin: format(parseFormat).optional(),
  /** Whether the script restarts the machine. If so, a restart during the call counts as success. */
  reboots: z.boolean().default(false),
};

/** The options of each executor. Unknown options are faults (MU-3). */
export const executorOptions = {
  Application: z.strictObject({ ...common, commandLine: format(parseCommandLine).optional() }),
  Bash: z.strictObject({ ...common, shell: z.enum(['bash', 'sh']).default('bash') }),
  Python: z.strictObject(common),
  PowerShell: z.strictObject(common),
  Puppet: z.strictObject({ ...common, noop: z.boolean().default(false) }),
  Chef: z.strictObject({
    ...common,
    useBerkshelf: z.boolean().default(false),
    berksfilePath: z.string().min(1).optional(),
  }),
  SaltStack: z.strictObject({ ...common, test: z.boolean().default(false) }),
} as const satisfies Record<PlatformName, z.ZodObject>;

/** The options of a script with their defaults. */
export type ExecutorOptions<T extends PlatformName = PlatformName> = z.output<(typeof executorOptions)[T]>;

/** Whether an entry point is a class or recipe, such as `module::class`, not a file id (FormatVersion ≥ 2.1.0). */
export const namesNoFile = (type: string, entryPoint: string): boolean =>
  (type === 'Puppet' || type === 'Chef') && /^[\w-]+(?:::[\w-]+)+$/.test(entryPoint);
