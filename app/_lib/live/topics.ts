import type { Query } from '@tanstack/react-query';

/** A hint from the portal that data changed. It contains no data; pages reload the data that they show. */
export interface LiveChange {
  topic: string;
  key: string;
}

interface Rule {
  router: string;
  /**
   * Name of the input that identifies one object or a list of objects. Queries about other objects are not affected.
   */
  about?: string;
  /** If given, only this procedure is affected. */
  procedure?: string;
}

/** The queries that show the objects of each topic. An unknown topic affects every query. */
const rules: Readonly<Record<string, readonly Rule[]>> = {
  vm: [
    { router: 'vms', about: 'vmId' },
    { router: 'goalStates', about: 'vmId' },
    { router: 'instanceViews', about: 'vmId' },
    { router: 'overview', procedure: 'firstSteps' },
    { router: 'handlers', procedure: 'unknownMessages' },
    { router: 'fleet', procedure: 'rows', about: 'vmIds' },
  ],
  output: [
    { router: 'outputs', about: 'vmId' },
    { router: 'executions', procedure: 'log', about: 'vmId' },
  ],
  execution: [
    { router: 'executions', procedure: 'get', about: 'vmId' },
    { router: 'executions', procedure: 'list', about: 'vmId' },
    { router: 'executions', procedure: 'result', about: 'vmId' },
  ],
  fleet: [
    { router: 'vms', about: 'vmId' },
    { router: 'instanceViews', about: 'vmId' },
    { router: 'overview' },
    { router: 'attention' },
    { router: 'handlers' },
    { router: 'fleet', about: 'vmIds' },
  ],
  runbook: [{ router: 'runbooks' }],
  attention: [{ router: 'attention' }, { router: 'overview', procedure: 'failing' }],
  // The page counts new actions and loads them on request, so that rows do not move.
  act: [
    { router: 'activity', procedure: 'countNewer', about: 'vmId' },
    { router: 'activity', procedure: 'chain' },
    { router: 'overview', procedure: 'acts' },
  ],
  handler: [
    { router: 'handlers' },
    { router: 'overview', procedure: 'firstSteps' },
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

/** Whether a query shows one of the changed objects. */
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
      // If too many objects changed at the same time, the hint names none of them.
      return change.key === '*' || [about].flat().includes(change.key);
    });
  });
}

function inputOf(options: unknown): Record<string, unknown> | undefined {
  if (typeof options !== 'object' || options === null || !('input' in options)) return undefined;
  const { input } = options;
  return typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : undefined;
}
