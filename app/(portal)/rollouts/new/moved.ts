/** VMs that the plan had in one kind and that now have another. `none` is neither planned nor selected. */
export interface MovedRow {
  from: string;
  to: string;
  count: number;
}

/** Reads the table of what moved from the params of the reason `plan_moved_on`, such as `update-none`: 3. */
export function movedRows(params: Readonly<Record<string, string | number>>): MovedRow[] {
  return Object.entries(params).flatMap(([name, count]) => {
    const [from, to] = name.split('-');
    return from === undefined || to === undefined ? [] : [{ from, to, count: Number(count) }];
  });
}
