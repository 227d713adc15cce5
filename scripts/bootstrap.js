// Runs on Node 20, so that it can start on a new machine. Installs the packages of package-lock.json if they are
// missing or outdated, then runs the script with the project's own Node 24. `npm start` needs no development packages;
// every other command gets them. Usage: `node scripts/bootstrap.js scripts/start.ts --demo`; without a script it only
// installs.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const lockFile = path.join(root, 'package-lock.json');
const modules = path.join(root, 'node_modules');
const installedLock = path.join(modules, '.package-lock.json');
const marker = path.join(modules, '.cache', 'annex', 'installed');

const [script, ...args] = process.argv.slice(2);
const needsDevelopment = script !== 'scripts/start.ts';
const wanted = createHash('sha256').update(readFileSync(lockFile)).digest('hex');

function hasDevelopment() {
  const { devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  return Object.keys(devDependencies).every((name) => existsSync(path.join(modules, name, 'package.json')));
}

/** Whether development packages were installed here, for this lock file or an earlier lock file. */
const wasDevelopment = () => existsSync(path.join(modules, 'vitest', 'package.json'));

function isInstalled() {
  if (!existsSync(installedLock)) return false;
  if (needsDevelopment && !hasDevelopment()) return false;
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return true;
  // Packages that were installed manually after the lock file changed are up to date too.
  return statSync(installedLock).mtimeMs >= statSync(lockFile).mtimeMs;
}

/** Hides Annex's tokens, passwords and keys from the install scripts of packages. */
const installEnvironment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(ANNEX_.*|DATABASE_URL|NATS_URL)$/.test(name)));

function install() {
  console.error('Annex: Installing packages. The first time takes a minute or more …');
  const npm = process.env.npm_execpath;
  const [command, ...first] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
  // Keeps development packages if they are installed; otherwise, alternating commands would install them each time.
  // Without development packages, optional peers such as Playwright are omitted too, and the lock file stays unchanged.
  const kind =
    needsDevelopment || wasDevelopment() ? ['--include=dev'] : ['--omit=dev', '--legacy-peer-deps', '--no-save'];
  const options = ['--include=optional', '--no-audit', '--no-fund', '--loglevel=error', '--progress=true'];
  const started = Date.now();
  const done = spawnSync(command, [...first, 'install', ...kind, ...options], {
    cwd: root,
    env: installEnvironment(),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (done.status !== 0) {
    console.error('Annex: npm could not install the packages. Its error message is above.');
    process.exit(done.status ?? 1);
  }
  console.error(`Annex: Packages installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}

if (!isInstalled()) install();
if (!existsSync(marker) || readFileSync(marker, 'utf8') !== wanted) {
  mkdirSync(path.dirname(marker), { recursive: true });
  writeFileSync(marker, wanted);
}
if (script === undefined) process.exit(0);

const own = path.join(root, 'node_modules', '.bin', 'node');
const node = existsSync(own) ? own : process.execPath;
if (node === process.execPath && Number(process.versions.node.split('.')[0]) < 24) {
  console.error(`Annex needs Node 24; this is ${process.version}, and npm has no Node 24 for this machine.`);
  process.exit(1);
}

// Caches compiled code for all processes that this process starts, which halves their start time.
process.env.NODE_COMPILE_CACHE ||= path.join(root, 'node_modules', '.cache', 'annex', 'compiled');
// If this process is killed, the channel closes, and the script notices this.
const quickImports = pathToFileURL(path.join(root, 'server', 'platform', 'quick-imports.ts')).href;
const child = spawn(node, ['--import', quickImports, path.resolve(root, script), ...args], {
  cwd: root,
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`Annex: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
