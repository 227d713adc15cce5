import { type HeartbeatDocument, heartbeatFile, type StatusDocument, statusFile } from '#protocol/index.ts';
import { type SeedHandler, seedHandlers } from './catalogue.ts';

/**
 * The scenarios of seeded VMs, with a range of seconds since each began. A VM gets the first scenario whose condition
 * it meets; `r` is the VM's random number.
 */
export const scenarios = [
  { name: 'mount-refused', where: `role = 'files' and region = 'eu2' and env = 'prod'`, ago: [2_040, 2_160] },
  { name: 'silent', where: `role = 'edge' and region = 'ap1' and env = 'prod'`, ago: [780, 785] },
  { name: 'clock-drift', where: `role = 'api' and region = 'us1' and env = 'staging'`, ago: [1_200, 3_000] },
  { name: 'disk', where: 'r < 0.015', ago: [60, 14_400] },
  { name: 'rolling', where: 'r < 0.035', ago: [30, 900] },
  { name: 'late', where: 'r < 0.036', ago: [2_400, 5_400] },
  { name: 'heartbeat-lost', where: 'r < 0.039', ago: [1_500, 20_000] },
  { name: 'never', where: 'r < 0.044', ago: [3_600, 200_000] },
  { name: 'timeout', where: 'r < 0.045', ago: [900, 60_000] },
  { name: 'rule-failed', where: 'r < 0.049', ago: [300, 100_000] },
  { name: 'disabled', where: 'r < 0.054', ago: [10_000, 1_000_000] },
  { name: 'recovered', where: 'r < 0.058', ago: [120, 3_500] },
  { name: 'well', where: 'true', ago: [100_000, 4_000_000] },
] as const;

export type Scenario = (typeof scenarios)[number]['name'];

/** What one extension of a VM reported in a scenario. SQL creates the rows from it. Ages are in seconds. */
export interface Case {
  scenario: Scenario;
  name: string;
  variant: number;
  /** Whether the scenario affects this extension. Unaffected extensions have not changed for a long time. */
  affected: boolean;
  /** Whether the goal is always the newest version instead of a version chosen by share. */
  newest: boolean;
  state: 'enabled' | 'disabled';
  /** `patient` means timeouts of several hours, so that work in progress is not late while the seed is in use. */
  timeouts: 'usual' | 'patient';
  report: Record<string, unknown> | null;
  beat: HeartbeatDocument | null;
  beatFile: unknown;
  beatAge: number;
  status: StatusDocument | null;
  statusFile: unknown;
  concluded: 'success' | 'error' | null;
}

export const variants = 5;
const time = '2026-01-01T00:00:00Z';

interface ReportedStatus {
  status: 'transitioning' | 'error' | 'success' | 'warning';
  code?: number;
  operation?: string;
  message: { id: string; params?: string[] };
  substatus?: unknown[];
}

const well: Readonly<Record<string, (variant: number) => ReportedStatus>> = {
  metrics: (variant) => ({
    status: 'success',
    operation: 'collecting',
    message: { id: 'metrics_collected', params: [String(31 + variant * 9)] },
    substatus: [{ name: 'cpu', status: 'success', message: { id: 'cpu_sampled', params: [String(2 ** variant)] } }],
  }),
  mount: () => ({
    status: 'success',
    operation: 'mounting',
    message: { id: 'share_mounted', params: ['files.example.net'] },
  }),
  baseline: () => ({ status: 'success', message: { id: 'baseline_applied', params: ['48'] } }),
  backup: (variant) => ({ status: 'success', message: { id: 'snapshot_taken', params: [String(3 + variant)] } }),
};

interface Change {
  newest?: boolean;
  state?: 'disabled';
  timeouts?: 'patient';
  report?: Record<string, unknown> | null;
  beatAge?: number;
  says?: ReportedStatus | null;
}

const drives = ['/', '/var', '/data', '/srv', '/home'];

/** Reports of the extensions that a scenario affects. */
const changes: Partial<Record<Scenario, Partial<Record<string, (variant: number) => Change>>>> = {
  'mount-refused': {
    mount: (variant) => ({
      report: {
        state: 'failed',
        command: 'enable',
        exitCode: 51,
        attempt: 3 + variant,
        output: 'mount: files.example.net:/export/data: connection refused\n',
      },
      says: {
        status: 'error',
        code: 51,
        operation: 'mounting',
        message: { id: 'connection_refused', params: ['files.example.net', 'svc-files'] },
      },
    }),
    baseline: () => ({
      timeouts: 'patient',
      report: { state: 'waiting', blockedBy: 'mount' },
      beatAge: -1,
      says: null,
    }),
    backup: () => ({ timeouts: 'patient', report: { state: 'waiting', blockedBy: 'mount' }, says: null }),
  },
  'clock-drift': {
    metrics: (variant) => ({
      newest: true,
      says: { status: 'warning', message: { id: 'clock_drift_high', params: [String(700 + variant * 40)] } },
    }),
  },
  disk: {
    metrics: (variant) => ({
      says: {
        status: 'warning',
        code: 17,
        message: { id: 'disk_nearly_full', params: [drives[variant] ?? '/', String(91 + variant)] },
      },
    }),
  },
  rolling: {
    metrics: (variant) => ({
      newest: true,
      timeouts: 'patient',
      report: { state: 'enabling', command: 'enable' },
      says: { status: 'transitioning', message: { id: 'metrics_starting', params: [String(variant), '6'] } },
    }),
  },
  late: { mount: () => ({ report: { state: 'installing', command: 'install' }, says: null }) },
  'heartbeat-lost': { baseline: () => ({ beatAge: 1_200 }), metrics: () => ({ beatAge: 1_200 }) },
  never: Object.fromEntries(seedHandlers.map(({ name }) => [name, () => ({ report: null, beatAge: -1, says: null })])),
  timeout: {
    mount: () => ({ report: { state: 'failed', command: 'install', timedOut: true, output: '' }, says: null }),
  },
  'rule-failed': {
    baseline: (variant) => ({
      says: { status: 'error', code: 4, message: { id: 'rule_failed', params: [`CIS-5.${variant + 1}`] } },
    }),
  },
  disabled: { baseline: () => ({ state: 'disabled', report: { state: 'disabled', command: 'disable' }, beatAge: -1 }) },
};

/** Returns the cases of these handlers in all scenarios. */
export function casesOf(handlers: readonly SeedHandler[]): Case[] {
  return scenarios.flatMap(({ name: scenario }) =>
    handlers.flatMap((handler) => Array.from({ length: variants }, (_, variant) => caseOf(scenario, handler, variant))),
  );
}

function caseOf(scenario: Scenario, { name, heartbeat }: SeedHandler, variant: number): Case {
  const change = changes[scenario]?.[name]?.(variant);
  const says = change?.says === undefined ? (well[name]?.(variant) ?? null) : change.says;
  const file = says && [{ version: 1.0, timestampUTC: time, status: { name: `${name}.status`, ...says } }];
  const beatAge = change?.beatAge ?? 4 + variant;
  const beatFile = heartbeat && beatAge >= 0 ? [{ version: 1.0, heartbeat: { status: 'ready', code: 0 } }] : null;
  return {
    scenario,
    name,
    variant,
    affected: change !== undefined,
    newest: change?.newest ?? false,
    state: change?.state ?? 'enabled',
    timeouts: change?.timeouts ?? 'usual',
    report:
      change?.report === null
        ? null
        : {
            sequenceNumber: 1,
            state: 'enabled',
            command: 'enable',
            exitCode: 0,
            timedOut: false,
            attempt: 1,
            ...clean(change?.report),
          },
    beat: beatFile && heartbeatFile.parse(beatFile),
    beatFile,
    beatAge: Math.max(0, beatAge),
    status: file && statusFile.parse(file),
    statusFile: file,
    // A warning counts as success, because the command that wrote it has ended.
    concluded: says === null || says.status === 'transitioning' ? null : says.status === 'error' ? 'error' : 'success',
  };
}

/** Clears the default exit code and command of reports without an exit code, such as those of running commands. */
function clean(report: Record<string, unknown> | undefined): Record<string, unknown> {
  if (report === undefined || 'exitCode' in report || report.state === 'disabled') return report ?? {};
  return { exitCode: undefined, ...('command' in report ? {} : { command: undefined }), ...report };
}
