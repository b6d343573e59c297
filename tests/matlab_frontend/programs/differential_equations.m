[t, y] = ode45(@(t, y) [y(2); (1 - y(1)^2)*y(2) - y(1)], [0 20], [2; 0]);
disp(size(t))   % MATLAB takes 59 steps and gives four points a step
[t, y] = ode45(@(t, y) [y(2); -y(1)], [0 pi/2 pi], [0; 1]);
disp(max(max(abs(y - [0 1; 1 0; 0 -1]))) < 1e-2), disp(size(t))
o = odeset('RelTol', 1e-9, 'AbsTol', 1e-11);
[t, y] = ode45(@(t, y) cos(t), [0 2], 0, o); disp(abs(y(end) - sin(2)) < 1e-9)
[t, y] = ode23(@(t, y) -2*y, [0 1], [1; 2], o); disp(max(abs(y(end, :) - exp(-2)*[1 2])) < 1e-8)
[t, y] = ode45(@(t, y) -y, [1 0], 1); fprintf('%.3f\n', y(end));
s = ode45(@(t, y) -y, [0 1], 1); disp(s.solver), disp(odeget(o, 'RelTol')), disp(odeget(o, 'MaxStep', 7))
try, ode45(@(t, y) [y; y], [0 1], 1), catch e, disp(e.identifier), end
try, ode45(@(t, y) y, [0 0], 1), catch e, disp(e.identifier), end
