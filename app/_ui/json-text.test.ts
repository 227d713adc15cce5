import { EditorState, Transaction, type TransactionSpec } from '@codemirror/state';
import { type EditorView, keymap } from '@codemirror/view';
import { minimalSetup } from 'codemirror';
import { expect, test } from 'vitest';
import { replaceText } from './json-text.ts';

/** An editor's state and key bindings, without a page. */
class Editor {
  state: EditorState;

  constructor(doc: string) {
    this.state = EditorState.create({ doc, extensions: [minimalSetup] });
  }

  dispatch(spec: TransactionSpec): void {
    this.state = this.state.update(spec).state;
  }

  press(key: string): string {
    const binding = this.state
      .facet(keymap)
      .flat()
      .find((one) => one.key === key);
    const dispatch = ({ state }: { state: EditorState }) => {
      this.state = state;
    };
    binding?.run?.({ state: this.state, dispatch } as unknown as EditorView);
    return this.state.doc.toString();
  }
}

function pasteWrapper(joinsUndo: boolean): Editor {
  const editor = new Editor('{}');
  const changes = { from: 0, to: 2, insert: '{"runtimeSettings":[{"protectedSettings":"secret"}]}' };
  // Simulates a slow response from the portal, because two changes in quick succession are always one undo step.
  const annotations = Transaction.time.of(Date.now() - 5_000);
  editor.dispatch({ changes, userEvent: 'input.paste', annotations });
  editor.dispatch(replaceText(editor.state, '{ "server": 1 }', joinsUndo));
  return editor;
}

test('undo after a pasted settings wrapper restores the text before the paste', () => {
  const editor = pasteWrapper(true);
  expect(editor.press('Mod-z')).toBe('{}');
  expect(editor.press('Mod-y')).toBe('{ "server": 1 }');
});

test('undo after a change by the form restores the text that was typed', () => {
  expect(pasteWrapper(false).press('Mod-z')).toContain('runtimeSettings');
});
