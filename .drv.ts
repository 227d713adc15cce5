import { createServer } from 'node:http';
import { chromium } from '@playwright/test';
import { chromiumLaunch } from './e2e/support/browser.ts';
const b = await chromium.launch(await chromiumLaunch());
const ctx = await b.newContext({ viewport: { width: 1440, height: 900 }, permissions: ['clipboard-read','clipboard-write'] });
const page = await ctx.newPage();
page.setDefaultTimeout(20000);
const errs: string[] = [];
page.on('console', m => m.type()==='error' && errs.push(m.text()));
page.on('pageerror', e => errs.push('PAGEERROR '+e.message));
const AF = Object.getPrototypeOf(async function(){}).constructor;
createServer((q, r) => { let d=''; q.on('data', c => d+=c); q.on('end', async () => {
  try { const v = await new AF('page','ctx','errs', d)(page, ctx, errs); r.end((typeof v==='string'?v:JSON.stringify(v,null,1))+'\n'); } catch (e) { r.end('ERR '+(e as Error).message.slice(0,1500)+'\n'); } });
}).listen(4799, '127.0.0.1');
console.log('ready');
