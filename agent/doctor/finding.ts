/** What one look at a machine found. */
export interface Finding {
  /** What was looked at; the same word always, for programs. */
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
    | 'programs';
  /** `bad`: the agent cannot do its work. `advice`: it can, but not for long or not for all. */
  verdict: 'good' | 'advice' | 'bad';
  what: string;
  /** What mends it; absent where nothing has to be. */
  toDo?: string;
}

type Said = Omit<Finding, 'check' | 'verdict'>;

/** The three verdicts of one check. */
export function verdictsOf(check: Finding['check']) {
  return {
    good: (what: string): Finding => ({ check, verdict: 'good', what }),
    advice: (said: Required<Said>): Finding => ({ check, verdict: 'advice', ...said }),
    bad: (said: Required<Said>): Finding => ({ check, verdict: 'bad', ...said }),
  };
}
