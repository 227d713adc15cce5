/** The result of one check. */
export interface DoctorFinding {
  /** Name of the check. It never changes, so programs can rely on it. */
  check:
    | 'configuration'
    | 'folder'
    | 'disk'
    | 'process'
    | 'restart'
    | 'identity'
    | 'portal'
    | 'clock'
    | 'credential'
    | 'broker'
    | 'programs';
  /** `bad`: the agent cannot work. `advice`: the agent works, but incompletely or not for much longer. */
  verdict: 'good' | 'advice' | 'bad';
  what: string;
  /** What to do; absent if nothing needs to be done. */
  toDo?: string;
}

type Advice = Omit<DoctorFinding, 'check' | 'verdict'>;

/** Returns functions that create findings of a check, one for each verdict. */
export function verdictsOf(check: DoctorFinding['check']) {
  return {
    good: (what: string): DoctorFinding => ({ check, verdict: 'good', what }),
    advice: (advice: Required<Advice>): DoctorFinding => ({ check, verdict: 'advice', ...advice }),
    bad: (advice: Required<Advice>): DoctorFinding => ({ check, verdict: 'bad', ...advice }),
  };
}
