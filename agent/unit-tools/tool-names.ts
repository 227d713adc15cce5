/** The commands for hooks, and a reserved name. */
export const toolNames = [
  'relation-get',
  'relation-set',
  'relation-list',
  'config-get',
  'unit-get',
  'open-port',
  'close-port',
  'ensemble-log',
  'ensemble-logger',
] as const;
export type ToolName = (typeof toolNames)[number];
