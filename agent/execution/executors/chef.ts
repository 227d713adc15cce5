import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ExecutorOptions } from '#protocol/executions/index.ts';
import { writeAtomically } from '../../folder/write-file.ts';
import { CallError } from '../call-error.ts';
import type { CallResult, Executor, LoadedScript, ScriptCallContext, ScriptOnDisk } from './executor.ts';
import { namedOnly } from './named-only.ts';
import { findProgram, probe, slowProbeMilliseconds } from './probe.ts';

/** Name of the cookbook with the recipes of a script whose entry point is a file. */
const ownCookbook = 'annex_plan';
const recipeName = /^[\w-]+(?:::[\w-]+)?$/;
/** Attributes can have any name except that of the list of recipes. */
const attributeName = /^(?!run_list$)[\s\S]+$/;

/**
 * The executor for Chef. Runs a recipe with `chef-solo`; named arguments are attributes of the node. A function is
 * another recipe. The result of a call is the exit code.
 */
export const chef: Executor = {
  type: 'Chef',
  async find(environment) {
    const program = findProgram('chef-solo', environment.PATH);
    if (program === null) return null;
    const version = await probe(program, ['--version'], /(\d+(?:\.\d+)+)/, environment, slowProbeMilliseconds);
    return version === null ? null : { version, program };
  },
  load: async (script) => new ChefScript(script),
};

class ChefScript implements LoadedScript {
  private readonly script: ScriptOnDisk;
  private readonly folder: string;
  private hasCookbooks = false;

  constructor(script: ScriptOnDisk) {
    this.script = script;
    this.folder = join(dirname(script.folder), 'chef');
    mkdirSync(join(this.folder, 'cookbooks'), { recursive: true, mode: 0o700 });
    if (script.entry !== '') writeCookbook(join(this.folder, 'cookbooks', ownCookbook), script.entry);
  }

  async call(fn: string | null, ctx: ScriptCallContext): Promise<CallResult> {
    const { name, program } = this.script;
    const recipe = this.recipeOf(fn);
    const attributes = namedOnly(name, ctx.args, { pattern: attributeName, meaning: 'attributes of the node' });
    const failed = await this.fetchCookbooks(ctx);
    if (failed !== null) return failed;
    const [settings, node] = [join(this.folder, 'solo.rb'), join(this.folder, 'node.json')];
    writeAtomically(settings, this.settings(), 0o600);
    writeAtomically(node, JSON.stringify({ ...attributes, run_list: [`recipe[${recipe}]`] }), 0o600);
    try {
      return { end: await ctx.run(program, ['-c', settings, '-j', node, '--no-color']) };
    } finally {
      rmSync(node, { force: true });
    }
  }

  async end(): Promise<void> {}

  /** Returns the recipe to run. Functions without `::` are recipes of the same cookbook as the entry point. */
  private recipeOf(fn: string | null): string {
    const { name, entry, script } = this.script;
    if (fn === null) return entry === '' ? script.entryPoint : `${ownCookbook}::default`;
    const [cookbook = ''] = entry === '' ? script.entryPoint.split('::') : [ownCookbook];
    const recipe = fn.includes('::') ? fn : `${cookbook}::${fn}`;
    if (recipeName.test(recipe)) return recipe;
    const message = `${name} has no function ${fn}, because this is not the name of a recipe.`;
    throw new CallError('ScriptError', message, { info: { script: name, function: fn } });
  }

  /** Fetches the cookbooks of the Berksfile, once. If this fails, returns the result for the call; otherwise, null. */
  private async fetchCookbooks(ctx: ScriptCallContext): Promise<CallResult | null> {
    const { name, folder, environment, script } = this.script;
    const { useBerkshelf, berksfilePath = 'Berksfile' } = script.options as ExecutorOptions<'Chef'>;
    if (!useBerkshelf || this.hasCookbooks) return null;
    const program = findProgram('berks', environment.PATH);
    if (program === null) {
      const message = `${name} uses Berkshelf, but this machine has no program berks.`;
      throw new CallError('ScriptError', message, { info: { script: name } });
    }
    const end = await ctx.run(program, ['vendor', join(this.folder, 'berks'), '-b', join(folder, berksfilePath)]);
    this.hasCookbooks = end.exitCode === 0;
    return this.hasCookbooks ? null : { end };
  }

  /** Returns the settings of chef-solo, which name only folders that exist. */
  private settings(): string {
    const { folder, entry } = this.script;
    const given = join(folder, 'cookbooks');
    const folders = [existsSync(given) || entry !== '' ? given : folder, ...['cookbooks', 'berks'].map(this.path)];
    const paths = folders.filter((path) => existsSync(path)).map(quoted);
    return [
      `chef_repo_path ${quoted(this.folder)}`,
      `cookbook_path [${paths.join(', ')}]`,
      `node_path ${quoted(this.path('nodes'))}`,
      `file_cache_path ${quoted(this.path('cache'))}`,
      '',
    ].join('\n');
  }

  private readonly path = (name: string): string => join(this.folder, name);
}

/** Writes a cookbook with the entry point as its default recipe, and with the other recipes of the same folder. */
function writeCookbook(cookbook: string, entry: string): void {
  const recipes = join(cookbook, 'recipes');
  mkdirSync(recipes, { recursive: true, mode: 0o700 });
  writeAtomically(join(cookbook, 'metadata.rb'), `name '${ownCookbook}'\nversion '1.0.0'\n`, 0o600);
  for (const file of readdirSync(dirname(entry))) {
    if (file.endsWith('.rb')) copyFileSync(join(dirname(entry), file), join(recipes, file));
  }
  copyFileSync(entry, join(recipes, 'default.rb'));
}

/** Returns a text as a Ruby string literal. */
const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
