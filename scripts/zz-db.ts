import { mkdtemp } from 'node:fs/promises';
import pg from 'pg';
import { migrate } from '#db/migrate.ts';
import { startPostgres } from '#server/platform/postgres.ts';
import { readFileSync } from 'node:fs';
const base = process.argv[3] ?? '/tmp/citime';
const dataDir = await mkdtemp(base + '/pg-');
const server = await startPostgres({ dataDir, settings: { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', shared_buffers: '128MB', max_connections: '300', autovacuum: 'off', ...JSON.parse(process.argv[2] ?? '{}') } });
const cpu = async () => { await new Promise(r=>setTimeout(r,400)); const s = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1]!.split(' '); return (Number(s[11]) + Number(s[12]) + Number(s[13]) + Number(s[14])) / 100; };
const u = new URL(server.url); u.pathname = '/postgres';
const c = new pg.Client({ connectionString: u.href }); await c.connect();
const t=performance.now();
await c.query('create database tpl');
const v = new URL(server.url); v.pathname = '/tpl';
const pool = new pg.Pool({ connectionString: v.href, max: 1 }); pool.on('error',()=>{}); await migrate(pool); 
const tables = (await pool.query("select relname from pg_class where relkind in ('r','p') and not relispartition and relnamespace='public'::regnamespace")).rows.map(r=>r.relname);
await pool.end();
console.log('migrate wall', performance.now()-t, tables.length);
{ const k = new pg.Client({ connectionString: v.href }); await k.connect(); await k.query('select 1'); await k.end(); }
for (const strategy of ['wal_log','file_copy','wal_log','file_copy']) {
  let b=await cpu(); let t=performance.now();
  const c2 = new pg.Client({ connectionString: u.href }); await c2.connect();
  for (let i=0;i<10;i++) await c2.query(`create database x${strategy}${i} template tpl strategy ${strategy}`);
  await c2.end();
  console.log(strategy, 'wall', (performance.now()-t)/10, 'cpu', ((await cpu())-b)/10);
  for (const round of ['first','second']) {
  b=await cpu(); t=performance.now();
  for (let i=0;i<10;i++) { const w = new URL(server.url); w.pathname = `/x${strategy}${i}`; const k = new pg.Client({ connectionString: w.href }); await k.connect(); await k.query('select 1'); await k.end(); }
  console.log(strategy, round, 'bare connection wall', (performance.now()-t)/10, 'cpu', ((await cpu())-b)/10);
  }
  b=await cpu(); t=performance.now();
  for (let i=0;i<10;i++) { const w = new URL(server.url); w.pathname = `/x${strategy}${i}`; const k = new pg.Client({ connectionString: w.href }); await k.connect(); for (const n of tables.slice(0,40)) await k.query(`select * from "${n}" limit 1`); await k.end(); }
  console.log(strategy, '40 tables wall', (performance.now()-t)/10, 'cpu', ((await cpu())-b)/10);
  b=await cpu(); t=performance.now();
  for (let i=0;i<10;i++) await c.query(`drop database x${strategy}${i}`);
  console.log('drop', (performance.now()-t)/10, ((await cpu())-b)/10);
}
await c.end(); await server.stop();
