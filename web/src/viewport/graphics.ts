// Graphics capabilities of the browser.

export type Graphics = 'card' | 'software' | 'none';

/** Queries a temporary context, because some options must be known when the real one is created. */
export function probeGraphics(): Graphics {
  const context = document.createElement('canvas').getContext('webgl2');
  if (!context) return 'none';
  const details = context.getExtension('WEBGL_debug_renderer_info');
  const name = String(context.getParameter(details ? details.UNMASKED_RENDERER_WEBGL : context.RENDERER));
  context.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name) ? 'software' : 'card';
}
