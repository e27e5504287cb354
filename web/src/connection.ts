// Socket to the server, which is reopened whenever it closes.

import { type Answer, type Ask, decode, type Incoming, type Outgoing } from './protocol';

const RETRY_MS = 1500;

/** Answer to commands that the server can no longer answer. */
const LOST = { value: null, error: 'not connected to the server' };

/** Reason why nothing is shown. */
export type Trouble = 'connecting' | 'no-token' | 'refused' | 'gone' | 'no-graphics';

export interface ConnectionEvents {
  message(message: Exclude<Incoming, { type: 'answer' }>): void;
  /** Called when the trouble changes; null when the socket is open. */
  trouble(trouble: Trouble | null): void;
}

export class Connection {
  private socket: WebSocket | null = null;
  private questions = new Map<number, (answer: Omit<Answer, 'ask'>) => void>();
  private asked = 0;
  private readonly token = new URLSearchParams(location.search).get('token');

  constructor(private readonly events: ConnectionEvents) {}

  open(): void {
    if (!this.token) {
      this.events.trouble('no-token');
      return;
    }
    const url = new URL('socket', location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    url.search = new URLSearchParams({ token: this.token }).toString();
    const socket = new WebSocket(url);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    let opened = false;
    socket.onopen = () => {
      opened = true;
      this.events.trouble(null);
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer>) => {
      const message = decode(event.data);
      if (message.type === 'answer') this.answered(message.header);
      else this.events.message(message);
    };
    socket.onclose = async () => {
      this.socket = null;
      for (const ask of [...this.questions.keys()]) this.answered({ ask, ...LOST });
      const refused = !opened && (await this.isRefused(this.token ?? ''));
      this.events.trouble(refused ? 'refused' : 'gone');
      setTimeout(() => this.open(), RETRY_MS);
    };
  }

  /** Sends a message. Without a connection it is lost, as the page starts again with the next connection. */
  send = (message: Outgoing): void => {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify(message));
    }
  };

  ask: Ask = (message) => {
    if (this.socket?.readyState !== WebSocket.OPEN) return Promise.resolve(LOST);
    this.asked += 1;
    const ask = this.asked;
    this.socket.send(JSON.stringify({ ...message, ask }));
    return new Promise((answered) => {
      this.questions.set(ask, answered);
    });
  };

  private answered({ ask, ...answer }: Answer): void {
    this.questions.get(ask)?.(answer);
    this.questions.delete(ask);
  }

  /** Returns true if the server refuses the token. A socket does not report this, but a request for the page does. */
  private async isRefused(token: string): Promise<boolean> {
    try {
      const answer = await fetch(`./?${new URLSearchParams({ token })}`, { cache: 'no-store' });
      return answer.status === 403;
    } catch {
      return false;
    }
  }
}
