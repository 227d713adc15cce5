/** Returns the address of an execution's page. */
export const executionHref = ({ vmId, id }: { vmId: string; id: string }): string => `/vms/${vmId}/executions/${id}`;
