/** The element that holds the editor's buttons, below everything that scrolls. */
export const footId = 'editor-foot';
