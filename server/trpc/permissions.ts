import type { Role } from '#db/schema/auth.ts';

/**
 * The objects that a call may reach. `any` means all, `namespace` those in the caller's namespaces (for admins, in all
 * namespaces), and `own` the caller's own. `visible` means the log entries about VMs, handlers and other shared
 * objects; an entry about people is visible only to admins and to the person who acted. `others` means what other
 * people created, edited and planned.
 */
export type Reach = 'any' | 'namespace' | 'own' | 'others' | 'visible';

/** Who may make a call. `role` is the minimum role; null means anyone, even without a session. */
export interface Permission {
  role: Role | null;
  reach: Reach;
  /** The grant that the caller needs besides the role. Admins need none. */
  grant?: 'scripts';
  /** The grant with which callers who lack the role may make the call too. */
  orGrant?: 'scripts';
  /**
   * Whether members who must still set up a second factor may make the call. Without such calls, they could not set up
   * a factor.
   */
  beforeFactor?: true;
}

const open: Permission = { role: null, reach: 'any' };
const reads: Permission = { role: 'viewer', reach: 'any' };
const own: Permission = { role: 'viewer', reach: 'own', beforeFactor: true };
const visible: Permission = { role: 'viewer', reach: 'visible' };
const operates: Permission = { role: 'operator', reach: 'any' };
const publishes: Permission = { role: 'publisher', reach: 'namespace' };
const writesRunbooks: Permission = { role: 'viewer', reach: 'any', grant: 'scripts' };
const decides: Permission = { role: 'operator', reach: 'others' };
const administers: Permission = { role: 'admin', reach: 'any' };

/**
 * Permissions of the pages' procedures. They are checked before a verb runs, tests compare the verbs and the entry
 * points with them, and docs/permissions.md is generated from them. The code does not compile if a procedure is missing
 * here. Routes of `/api/v1` declare their own permissions.
 */
export const permissions = {
  'account.addPasskey': own,
  'account.addTotp': own,
  'account.changePassword': own,
  'account.confirm': own,
  'account.endOtherSessions': own,
  'account.endSession': own,
  'account.get': own,
  'account.removePasskey': own,
  'account.removeTotp': own,
  'account.rename': own,
  'account.renamePasskey': own,
  'account.renewRecoveryCodes': own,
  'account.sessions': own,
  'account.setLanguage': own,
  'account.startConfirmation': own,
  'account.startPasskey': own,
  'account.startTotp': own,
  'activity.chain': reads,
  'activity.countNewer': visible,
  'activity.counts': visible,
  'activity.facets': visible,
  'activity.feed': visible,
  'activity.get': visible,
  'activity.lastVisit': { role: 'viewer', reach: 'own' },
  'activity.list': visible,
  'attention.assign': operates,
  'attention.assignees': operates,
  'attention.count': reads,
  'attention.list': reads,
  'attention.snooze': operates,
  'attention.unassign': operates,
  'attention.unsnooze': operates,
  'attention.vms': reads,
  'executions.bind': administers,
  'executions.cancel': operates,
  'executions.cancelWaiting': operates,
  'executions.channel': reads,
  'executions.compare': operates,
  'executions.compareCall': operates,
  'executions.conductor': reads,
  'executions.decide': operates,
  'executions.filter': operates,
  'executions.follow': operates,
  'executions.get': reads,
  'executions.groups': reads,
  'executions.list': reads,
  'executions.log': operates,
  'executions.plan': operates,
  'executions.queue': operates,
  'executions.result': operates,
  'executions.rules': administers,
  'executions.search': operates,
  'executions.setRules': administers,
  'executions.unbind': administers,
  'executions.validate': { ...operates, orGrant: 'scripts' },
  'finds.things': reads,
  'fleet.count': reads,
  'fleet.facets': reads,
  'fleet.fields': reads,
  'fleet.list': reads,
  'fleet.rows': reads,
  'fleet.summary': reads,
  'gateway.state': reads,
  'goalStates.changes': operates,
  'goalStates.compare': operates,
  'goalStates.delivered': operates,
  'goalStates.get': operates,
  'goalStates.getExtension': operates,
  'goalStates.list': operates,
  'goalStates.planExtension': operates,
  'goalStates.planRemoval': operates,
  'goalStates.planRevert': operates,
  'goalStates.previewRevert': operates,
  'goalStates.releaseSecrets': administers,
  'goalStates.removeExtension': operates,
  'goalStates.cancelRetries': operates,
  'goalStates.retryExtension': operates,
  'goalStates.revert': operates,
  'goalStates.revertTarget': operates,
  'goalStates.setExtension': operates,
  'handlers.adoption': reads,
  'handlers.compare': reads,
  'handlers.get': reads,
  'handlers.list': reads,
  'handlers.unknownMessages': reads,
  'instanceViews.get': reads,
  'instanceViews.history': operates,
  'instanceViews.latest': operates,
  'instanceViews.queue': reads,
  'instanceViews.silentTogether': reads,
  'instanceViews.timeline': reads,
  'invitations.create': administers,
  'invitations.list': administers,
  'invitations.read': open,
  'invitations.redeem': open,
  'invitations.renew': administers,
  'invitations.revoke': administers,
  'live.changes': reads,
  'members.endSessions': administers,
  'members.list': administers,
  'members.me': open,
  'members.remove': administers,
  'members.resetFactors': administers,
  'members.sessions': administers,
  'members.update': administers,
  'outputs.archives': operates,
  'outputs.get': operates,
  'outputs.list': operates,
  'outputs.read': operates,
  'outputs.requestArchive': operates,
  'outputs.search': operates,
  'overview.acts': reads,
  'overview.cell': reads,
  'overview.changes': reads,
  'overview.deadlines': reads,
  'overview.events': reads,
  'overview.failing': reads,
  'overview.firstSteps': reads,
  'overview.map': reads,
  'overview.mapOfRollout': reads,
  'overview.summary': reads,
  'packages.drafts': { role: 'publisher', reach: 'own' },
  'packages.get': reads,
  'packages.losses': reads,
  'packages.publish': publishes,
  'packages.publishSample': administers,
  'packages.remove': publishes,
  'packages.setSettingsSchema': publishes,
  'packages.withdraw': publishes,
  'publishers.create': administers,
  'publishers.list': reads,
  'resources.coverage': reads,
  'resources.get': reads,
  'resources.preview': reads,
  'rolloutRules.get': reads,
  'rolloutRules.set': administers,
  'rollouts.abort': operates,
  'rollouts.advance': operates,
  'rollouts.approve': decides,
  'rollouts.automaticOfHandler': reads,
  'rollouts.cells': reads,
  'rollouts.close': operates,
  'rollouts.countNeeding': reads,
  'rollouts.create': operates,
  'rollouts.curve': reads,
  'rollouts.get': reads,
  'rollouts.list': reads,
  'rollouts.ofVm': reads,
  'rollouts.pause': operates,
  'rollouts.plan': operates,
  'rollouts.planVms': operates,
  'rollouts.planned': operates,
  'rollouts.reject': decides,
  'rollouts.remove': operates,
  'rollouts.resume': operates,
  'rollouts.retry': operates,
  'rollouts.ringOpenings': reads,
  'rollouts.revert': operates,
  'rollouts.start': operates,
  'rollouts.steps': reads,
  'rollouts.unschedule': operates,
  'rollouts.update': operates,
  'rollouts.whyThisVersion': reads,
  'runbookFiles.list': reads,
  'runbookFiles.remove': { ...reads, grant: 'scripts' },
  'runbooks.get': reads,
  'runbooks.list': reads,
  'runbooks.publish': writesRunbooks,
  'runbooks.removeDraft': writesRunbooks,
  'runbooks.save': writesRunbooks,
  'runbooks.version': reads,
  'runbooks.withdraw': writesRunbooks,
  'signIn.attempts': administers,
  'signIn.provider': administers,
  'signIn.rules': administers,
  'signIn.setRules': administers,
  'signIn.ways': open,
  'strategies.list': reads,
  'strategies.remove': operates,
  'strategies.set': operates,
  'tokens.create': administers,
  'tokens.list': administers,
  'tokens.revoke': administers,
  'vms.create': operates,
  'vms.get': reads,
  'vms.grantWireAccess': operates,
  'vms.hold': operates,
  'vms.issueEnrollmentToken': operates,
  'vms.releaseHold': operates,
  'vms.remove': operates,
  'vms.revokeWireAccess': operates,
  'vms.rotateTenantKey': operates,
  'vms.update': operates,
  'vms.wireAccess': reads,
} satisfies Record<string, Permission>;

/** Returns the permission of a procedure. Throws if the procedure is not in the table. */
export function permissionOf(path: string): Permission {
  const lines: Readonly<Record<string, Permission>> = permissions;
  const found = Object.hasOwn(lines, path) ? lines[path] : undefined;
  if (found === undefined) throw new Error(`${path} has no line in permissions.ts`);
  return found;
}
