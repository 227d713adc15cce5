import type { Query } from '@tanstack/react-query';

/** A hint from the portal: this thing has changed. It carries no data; the pages read again what they show. */
export interface LiveChange {
  topic: string;
  key: string;
}

interface Rule {
  router: string;
  /** Input that names the thing, or a list of things: queries about others are left alone. */
  about?: string;
  /** Only this procedure: the others show what was, which no change touches. */
  procedure?: string;
}

/** Which queries show which things. A topic that is not here concerns every query. */
const rules: Readonly<Record<string, readonly Rule[]>> = {
  vm: [
    { router: 'vms', about: 'vmId' },
    { router: 'goalStates', about: 'vmId' },
    { router: 'instanceViews', about: 'vmId' },
    { router: 'handlers', procedure: 'unknownMessages' },
    { router: 'fleet', procedure: 'rows', about: 'vmIds' },
  ],
  output: [{ router: 'outputs', about: 'vmId' }],
  fleet: [
    { router: 'vms', about: 'vmId' },
    { router: 'instanceViews', about: 'vmId' },
    { router: 'overview' },
    { router: 'handlers' },
    { router: 'fleet', about: 'vmIds' },
  ],
  // The page counts new acts and reads them when the reader asks: rows do not jump.
  act: [
    { router: 'activity', procedure: 'countNewer', about: 'vmId' },
    { router: 'activity', procedure: 'chain' },
    { router: 'overview', procedure: 'acts' },
  ],
  handler: [
    { router: 'handlers' },
    { router: 'packages' },
    { router: 'resources' },
    { router: 'instanceViews' },
    { router: 'goalStates' },
    { router: 'vms' },
  ],
  publisher: [{ router: 'publishers' }, { router: 'handlers' }],
  member: [{ router: 'members' }],
  invitation: [{ router: 'invitations' }],
  token: [{ router: 'tokens' }],
};

/** Whether a query shows one of the things that changed. */
export function concerns(queryKey: Query['queryKey'], changes: readonly LiveChange[]): boolean {
  const [path, options] = queryKey;
  const [router, procedure] = Array.isArray(path) ? path : [];
  if (typeof router !== 'string') return false;
  const input = inputOf(options);
  return changes.some((change) => {
    const matching = rules[change.topic];
    if (matching === undefined) return true;
    return matching.some((rule) => {
      if (rule.router !== router || (rule.procedure ?? procedure) !== procedure) return false;
      const about = rule.about === undefined ? undefined : input?.[rule.about];
      if (typeof about !== 'string' && !Array.isArray(about)) return true;
      // Where too many changed at once, none of them is named.
      return change.key === '*' || [about].flat().includes(change.key);
    });
  });
}

function inputOf(options: unknown): Record<string, unknown> | undefined {
  if (typeof options !== 'object' || options === null || !('input' in options)) return undefined;
  const { input } = options;
  return typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : undefined;
}
