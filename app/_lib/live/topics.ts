import type { Query } from '@tanstack/react-query';

/** A hint from the portal that data changed. It contains no data; pages reload the data that they show. */
export interface LiveChange {
  topic: string;
  key: string;
}

/**
 * The queries that show the objects of each topic, as `router`, `router.procedure` or `router?input`. The input
 * identifies one object or a list of objects; queries about other objects are not affected. An unknown topic affects
 * every query.
 */
const rules: Readonly<Record<string, readonly string[]>> = {
  vm: [
    'vms?vmId',
    'goalStates?vmId',
    'instanceViews?vmId',
    'overview.firstSteps',
    'handlers.unknownMessages',
    'fleet.rows?vmIds',
    'rollouts.whyThisVersion?vmId',
    'services.states',
    'services.runs',
    'units?vmId',
  ],
  output: ['outputs?vmId', 'executions.log?vmId', 'units.log?vmId'],
  execution: [
    'executions.get?vmId',
    'executions.list?vmId',
    'executions.result?vmId',
    'instanceViews.queue?vmId',
    'instanceViews.timeline?vmId',
  ],
  fleet: [
    'vms?vmId',
    'instanceViews?vmId',
    'overview',
    'attention',
    'handlers',
    'fleet?vmIds',
    'models.counted',
    'models.machines',
    'services.states',
    'units.get?vmId',
    'units.ofVm?vmId',
  ],
  runbook: ['runbooks'],
  rollout: ['rollouts?id', 'overview.mapOfRollout?rollout', 'strategies', 'rolloutRules'],
  model: ['models', 'services', 'units', 'relations', 'instanceViews.queue'],
  relation: ['relations?id', 'services.states', 'units.due', 'units.relations'],
  unit: ['services.states', 'services.runs'],
  attention: ['attention', 'overview.failing'],
  // The activity page only counts new actions and loads them on request, so that its rows do not move.
  act: ['activity.countNewer?vmId', 'activity.chain', 'overview.acts'],
  handler: [
    'handlers',
    'overview.firstSteps',
    'packages',
    'resources',
    'instanceViews',
    'goalStates',
    'vms',
    'rollouts.whyThisVersion',
    'rollouts.automaticOfHandler',
  ],
  publisher: ['publishers', 'handlers'],
  member: ['members'],
  invitation: ['invitations'],
  token: ['tokens'],
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
      const [queries, name = ''] = rule.split('?');
      if (queries !== router && queries !== `${router}.${procedure}`) return false;
      const about = input?.[name];
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
