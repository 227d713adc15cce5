import pg from 'pg';

export interface LookUpResult {
  /** Acknowledged reports whose status is not in the history. */
  lost: string[];
  /** VMs whose last report number or shown status is older than the last acknowledged report. */
  behind: string[];
  /** Number of statuses that are in the history more than once. */
  twice: number;
  stored: number;
}

/**
 * Checks that the history contains every acknowledged report, and that no VM's last report number or shown status is
 * older than the last acknowledged report.
 */
export async function lookUp(databaseUrl: string, run: string, acknowledged: Uint32Array): Promise<LookUpResult> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const marks = await countMarks(client);
    const lost: string[] = [];
    acknowledged.forEach((last, n) => {
      for (let number = 1; number <= last; number += 1) {
        if (!marks.has(`${n}.${number}`)) lost.push(`VM ${n}, report ${number}`);
      }
    });
    const shown = await readShown(client, run);
    const behind: string[] = [];
    acknowledged.forEach((last, n) => {
      if (last === 0) return;
      const now = shown.get(n);
      if (now === undefined || now.reportNumber < last)
        behind.push(`VM ${n}: report number ${now?.reportNumber}, not ${last}`);
      else if (now.status < last) behind.push(`VM ${n}: status of report ${now.status}, not ${last}`);
    });
    const twice = [...marks.values()].filter((count) => count > 1).length;
    return { lost, behind, twice, stored: marks.size };
  } finally {
    await client.end();
  }
}

async function countMarks(client: pg.Client): Promise<Map<string, number>> {
  const { rows } = await client.query<{ mark: string }>(
    `select document #>> '{file,0,status,message,params,0}' as mark from report_history where kind = 'status'`,
  );
  const marks = new Map<string, number>();
  for (const { mark } of rows) marks.set(mark, (marks.get(mark) ?? 0) + 1);
  return marks;
}

async function readShown(client: pg.Client, run: string) {
  const { rows } = await client.query<{ n: string; report_number: string; mark: string | null }>(
    `select substr(a.instance_id, length('bench-') + 1) as n, p.report_number,
       l.status #>> '{message,params,0}' as mark
     from agents a join agent_presence p on p.vm_id = a.vm_id and p.run = $1
     left join extension_latest l on l.vm_id = a.vm_id and l.name = 'mount'`,
    [run],
  );
  return new Map(
    rows.map(({ n, report_number, mark }) => [
      Number(n),
      { reportNumber: Number(report_number), status: Number(mark?.split('.')[1] ?? 0) },
    ]),
  );
}
